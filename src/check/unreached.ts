import { readNoProxy } from '../upstream/no-proxy.ts';
import { isPublicUrl } from '../upstream/public-addresses.ts';
import { isLoopback } from '../urls.ts';
import type { CheckContext } from './context.ts';

export type Unreached = ReturnType<typeof explainCall>;

const proxyAdvice = '; if this machine needs a proxy, set HTTPS_PROXY';

/**
 * Explanations by outcome of a call, reason of a failed discovery, or error code. Codes with the same explanation share
 * a key, with spaces between them.
 *
 * @see https://nodejs.org/api/errors.html and https://nodejs.org/api/tls.html
 */
const explanations: Readonly<Record<string, readonly [message: string, fix: string]>> = {
  'provider_timeout timeout': [
    'no answer came in time',
    'check host, network and proxy; --provider-timeout allows more time',
  ],
  'provider_answer_unusable too_large': [
    'the answer is larger than 1 MiB',
    'check the address: an endpoint answers in a few kilobytes',
  ],
  'ENOTFOUND EAI_AGAIN': [
    'the host name cannot be resolved',
    'check the host name, and the name servers of this machine',
  ],
  ECONNREFUSED: ['nothing listens at the address', `check host and port${proxyAdvice}`],
  ECONNRESET: [
    'the connection was cut before an answer came',
    'check the port; a server with TLS needs https:// instead of http://',
  ],
  'ENETUNREACH EHOSTUNREACH ETIMEDOUT': [
    'there is no network route to the host',
    `check the network and firewall${proxyAdvice}`,
  ],
  'EPROTO ERR_SSL_WRONG_VERSION_NUMBER': [
    'the port does not speak TLS',
    'check the port; a server without TLS needs http:// instead of https://',
  ],
  HPE_INVALID_CONSTANT: ['the port does not speak HTTP', 'check the port'],
  CERT_HAS_EXPIRED: [
    'the certificate has expired, if the clock of this machine is right',
    'check the clock; otherwise the certificate has to be renewed',
  ],
  CERT_NOT_YET_VALID: ['the certificate is not valid yet, if the clock of this machine is right', 'check the clock'],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'the certificate is for another host name',
    'check the host name, and whether the certificate has it; somebody else may be answering for it',
  ],
  'DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    [
      'the certificate is self-signed, or signed by an authority that is unknown here',
      'for a private authority, set NODE_EXTRA_CA_CERTS to its certificate file; otherwise check the host',
    ],
  ERR_PROXY_TUNNEL: [
    'the proxy does not let the connection through',
    'check HTTPS_PROXY, its user and password, and what it allows; or name the host in NO_PROXY',
  ],
};

/**
 * Explains why a call got no answer, and what to do.
 *
 * @param outcome the outcome of the call, or the reason of a failed discovery
 * @param errorCode the code of Node.js, if there is one
 */
export function explainCall(
  url: URL,
  outcome: string,
  errorCode: string | undefined,
  { config, describe }: Pick<CheckContext, 'config' | 'describe'>,
) {
  const { host, hostname, port, protocol } = url;
  const otherwise = [
    `the connection failed (${errorCode ?? 'for an unknown reason'})`,
    'check the address and the network',
  ] as const;
  // Most outcomes only say that the connection failed, and the error code says why.
  const [message, fix] = findExplanation(outcome) ?? findExplanation(errorCode) ?? otherwise;
  const { HTTPS_PROXY: proxyUrl, NO_PROXY: noProxy = '' } = config.proxy;
  const isProxied = protocol === 'https:' && proxyUrl && !readNoProxy(noProxy)(hostname, Number(port || 443));
  // HTTPS_PROXY is for https only, and leads to the Internet.
  const mayNeedProxy = protocol === 'https:' && isPublicUrl(url, false) && !isLoopback(url);
  const advice = mayNeedProxy ? fix : fix.replace(proxyAdvice, '');
  const where = isProxied ? `${host}, or the proxy of HTTPS_PROXY` : host;
  return {
    message: `${message} (${where})`,
    fix: advice.replace('--provider-timeout', describe('providerTimeout')),
    errorCode,
    /** Whether browsers on other machines fail for the same reason, such as an expired certificate. */
    failsForEveryone: /^(CERT|ERR_TLS_CERT)_/.test(errorCode ?? ''),
    /** Whether the address means the machine of whoever opens it, so that browsers elsewhere fail as this call did. */
    isOnThisMachine: isLoopback(url),
  };
}

const findExplanation = (code = '') =>
  Object.entries(explanations).find(([codes]) => codes.split(' ').includes(code))?.[1];

/**
 * Says that an address was not reached from here, although browsers or clients elsewhere may reach it, and only they
 * have to.
 *
 * @returns undefined if they cannot reach it either
 */
export function explainIfOthersMayReach(
  others: 'browsers' | 'clients',
  { message, failsForEveryone, isOnThisMachine }: Unreached,
): string | undefined {
  if (failsForEveryone || isOnThisMachine) return undefined;
  return `only ${others} have to reach it, and from here it was not reached: ${message}`;
}

/**
 * Whether a call has failed only because of settings of this machine, such as its certificate authorities or its proxy.
 */
export const failsOnlyHere = ({ errorCode = '' }: Unreached): boolean =>
  errorCode === 'ERR_PROXY_TUNNEL' || /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/.test(errorCode);
