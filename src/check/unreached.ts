import type { CheckContext } from './context.ts';

/** Why an address gave no answer, as text for the operator. */
export interface Unreached {
  readonly message: string;
  readonly fix: string;
  /** True if browsers on other machines fail for the same reason, such as an expired certificate. */
  readonly byEveryone?: true;
}

const nameLookup: Unreached = {
  message: 'the host name cannot be resolved',
  fix: 'check the host name, and the name servers of this machine',
};
const noRoute: Unreached = {
  message: 'there is no network route to the host',
  fix: 'check the network and firewall; if this machine needs a proxy, set HTTPS_PROXY',
};
const unknownAuthority: Unreached = {
  message: 'the certificate is self-signed, or signed by an authority that is unknown here',
  fix: 'for a private authority, set NODE_EXTRA_CA_CERTS to its certificate file; otherwise check the host',
};
const tooSlow: Unreached = {
  message: 'no answer came in time',
  fix: 'check host, network and proxy; --provider-timeout allows more time',
};
const tooLarge: Unreached = {
  message: 'the answer is larger than 1 MiB',
  fix: 'check the address: an endpoint answers in a few kilobytes',
};
const notTls: Unreached = {
  message: 'the port does not speak TLS',
  fix: 'check the port; a server without TLS needs http:// instead of https://',
};

/**
 * By the outcome of a call, the reason of a failed discovery, or the error code.
 *
 * @see https://nodejs.org/api/errors.html and https://nodejs.org/api/tls.html for the codes
 */
const reasons: Readonly<Record<string, Unreached>> = {
  provider_timeout: tooSlow,
  timeout: tooSlow,
  provider_answer_unusable: tooLarge,
  too_large: tooLarge,
  ENOTFOUND: nameLookup,
  EAI_AGAIN: nameLookup,
  ECONNREFUSED: {
    message: 'nothing listens at the address',
    fix: 'check host and port; if this machine needs a proxy, set HTTPS_PROXY',
  },
  ECONNRESET: {
    message: 'the connection was cut before an answer came',
    fix: 'check the port; a server with TLS needs https:// instead of http://',
  },
  ENETUNREACH: noRoute,
  EHOSTUNREACH: noRoute,
  ETIMEDOUT: noRoute,
  EPROTO: notTls,
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  HPE_INVALID_CONSTANT: { message: 'the port does not speak HTTP', fix: 'check the port' },
  CERT_HAS_EXPIRED: {
    message: 'the certificate has expired, if the clock of this machine is right',
    fix: 'check the clock; otherwise the certificate has to be renewed',
    byEveryone: true,
  },
  CERT_NOT_YET_VALID: {
    message: 'the certificate is not valid yet, if the clock of this machine is right',
    fix: 'check the clock',
    byEveryone: true,
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    message: 'the certificate is for another host name',
    fix: 'check the host name; somebody else may be answering for it',
    byEveryone: true,
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  ERR_PROXY_TUNNEL: {
    message: 'the proxy does not let the connection through',
    fix: 'check HTTPS_PROXY, its user and password, and what it allows; or name the host in NO_PROXY',
  },
};

/**
 * Explains a call that got no answer.
 *
 * @param outcome of the call, or why the discovery failed
 */
export function explainCall(
  { host, protocol }: URL,
  { outcome, error = '' }: { readonly outcome: string; readonly error?: string | undefined },
  { config, describe }: Pick<CheckContext, 'config' | 'describe'>,
): Unreached {
  const reason = reasons[outcome] ??
    reasons[error] ?? {
      message: `the connection failed (${error || 'for an unknown reason'})`,
      fix: 'check the address and the network',
    };
  const isProxied = protocol === 'https:' && config.proxy['HTTPS_PROXY'] !== undefined;
  const where = isProxied ? `${host}, or the proxy of HTTPS_PROXY` : host;
  return {
    ...reason,
    message: `${reason.message} (${where})`,
    fix: reason.fix.replace('--provider-timeout', describe('providerTimeout')),
  };
}
