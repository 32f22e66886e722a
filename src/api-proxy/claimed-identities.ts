/**
 * Request headers by which applications behind other proxies learn who the person is. A client that may send one could
 * claim to be anybody, so the gateway removes them. The templates in `deploy/` remove the same ones.
 *
 * The keys are patterns, in which a `*` at the end stands for any ending. `_` counts as `-`, because many applications
 * read both alike. The values are the names that known proxies send, because nginx can only remove a header by its full
 * name.
 */
export const claimedIdentities: Readonly<Record<string, readonly string[]>> = {
  // This relay, oauth2-proxy
  'x-forwarded-user*': ['X-Forwarded-User'],
  'x-forwarded-preferred-username': ['X-Forwarded-Preferred-Username'],
  'x-forwarded-email': ['X-Forwarded-Email'],
  'x-forwarded-groups': ['X-Forwarded-Groups'],
  'x-forwarded-access-token': ['X-Forwarded-Access-Token'],
  // oauth2-proxy, Keycloak's proxy
  'x-auth-*': [
    'X-Auth-Request-User',
    'X-Auth-Request-Preferred-Username',
    'X-Auth-Request-Email',
    'X-Auth-Request-Groups',
    'X-Auth-Request-Access-Token',
    'X-Auth-User',
    'X-Auth-Username',
    'X-Auth-Email',
    'X-Auth-Groups',
    'X-Auth-Roles',
    'X-Auth-Subject',
    'X-Auth-Token',
    'X-Auth-Userid',
  ],
  // Authelia, Gitea, Grafana, JupyterHub
  'remote-*': ['Remote-User', 'Remote-Name', 'Remote-Email', 'Remote-Groups'],
  'x-remote-*': ['X-Remote-User', 'X-Remote-Group', 'X-Remote-Groups'],
  'x-webauth-*': ['X-Webauth-User', 'X-Webauth-Email', 'X-Webauth-Fullname'],
  'x-user*': ['X-User', 'X-User-Id', 'X-User-Email', 'X-Username', 'X-Userinfo'],
  'x-email*': ['X-Email'],
  // authentik, Kong, Vouch, Pomerium
  'x-authentik*': [
    'X-Authentik-Username',
    'X-Authentik-Groups',
    'X-Authentik-Email',
    'X-Authentik-Uid',
    'X-Authentik-Jwt',
  ],
  'x-authenticated*': ['X-Authenticated-User', 'X-Authenticated-Userid', 'X-Authenticated-Scope'],
  'x-consumer-*': ['X-Consumer-Id', 'X-Consumer-Username', 'X-Consumer-Custom-Id', 'X-Consumer-Groups'],
  'x-anonymous-consumer': ['X-Anonymous-Consumer'],
  'x-credential-*': ['X-Credential-Identifier'],
  'x-vouch-*': ['X-Vouch-User', 'X-Vouch-Token', 'X-Vouch-Idp-Accesstoken', 'X-Vouch-Idp-Idtoken'],
  'x-pomerium-*': [
    'X-Pomerium-Jwt-Assertion',
    'X-Pomerium-Claim-Email',
    'X-Pomerium-Claim-User',
    'X-Pomerium-Claim-Groups',
  ],
  // Tailscale, Cloudflare, Azure, Google, Amazon
  'tailscale-*': [
    'Tailscale-User-Login',
    'Tailscale-User-Name',
    'Tailscale-User-Profile-Pic',
    'Tailscale-App-Capabilities',
  ],
  'cf-access-*': ['Cf-Access-Authenticated-User-Email', 'Cf-Access-Jwt-Assertion'],
  'x-ms-client-principal*': [
    'X-Ms-Client-Principal',
    'X-Ms-Client-Principal-Id',
    'X-Ms-Client-Principal-Name',
    'X-Ms-Client-Principal-Idp',
  ],
  'x-ms-token-*': ['X-Ms-Token-Aad-Id-Token', 'X-Ms-Token-Aad-Access-Token'],
  'x-goog-authenticated-user-*': ['X-Goog-Authenticated-User-Email', 'X-Goog-Authenticated-User-Id'],
  'x-goog-iap-*': ['X-Goog-Iap-Jwt-Assertion'],
  'x-endpoint-api-userinfo': ['X-Endpoint-Api-Userinfo'],
  'x-apigateway-api-userinfo': ['X-Apigateway-Api-Userinfo'],
  'x-amzn-oidc-*': ['X-Amzn-Oidc-Identity', 'X-Amzn-Oidc-Data', 'X-Amzn-Oidc-Accesstoken'],
  'x-amzn-mtls-*': ['X-Amzn-Mtls-Clientcert', 'X-Amzn-Mtls-Clientcert-Subject'],
  // Apache's modules, Kubernetes, older single sign-on
  'oidc-*': [
    'Oidc-Claim-Sub',
    'Oidc-Claim-Email',
    'Oidc-Claim-Preferred-Username',
    'Oidc-Access-Token',
    'Oidc-Id-Token',
  ],
  'mellon-*': ['Mellon-Name-Id'],
  'shib-*': ['Shib-Session-Id'],
  'iv-*': ['Iv-User', 'Iv-Groups', 'Iv-Creds'],
  'sm-*': ['Sm-User', 'Sm-Universalid'],
  'oam-*': ['Oam-Remote-User'],
  'impersonate-*': ['Impersonate-User', 'Impersonate-Group', 'Impersonate-Uid'],
  // Client certificates, from proxies that terminate TLS.
  'client-cert*': ['Client-Cert', 'Client-Cert-Chain'],
  'x-client-cert*': ['X-Client-Cert', 'X-Client-Certificate'],
  'ssl-*': ['Ssl-Client-Cert', 'Ssl-Client-Verify', 'Ssl-Client-Subject-Dn', 'Ssl-Client-S-Dn'],
  'x-ssl-*': ['X-Ssl-Client-Cert', 'X-Ssl-Client-Verify', 'X-Ssl-Client-S-Dn', 'X-Ssl-Client-Cn'],
  'x-arr-clientcert': ['X-Arr-Clientcert'],
};

const patterns = Object.keys(claimedIdentities).map((pattern) => pattern.replace(/\*$/, '.*'));
const claimedPattern = new RegExp(`^(?:${patterns.join('|')})$`);

/**
 * Whether applications may take a request header for a person's identity.
 *
 * @param name in lower case, with no other characters than `a-z`, `0-9` and `-`
 */
export function claimsIdentity(name: string): boolean {
  return claimedPattern.test(name);
}
