import { describeOption } from '../config/options.ts';
import type { FailureCode } from '../errors.ts';
import type { ProviderCall } from '../upstream/client.ts';
import { type Finding, problem } from './finding.ts';

interface Explanation {
  readonly message: string;
  readonly mend: string;
}

const nameLookup: Explanation = {
  message: 'the host name cannot be resolved',
  mend: 'check the host name, and the name servers of this machine',
};
const noRoute: Explanation = {
  message: 'there is no way through the network to the host',
  mend: 'check the network and firewall; if this machine needs a proxy, set HTTPS_PROXY',
};
const unknownAuthority: Explanation = {
  message: 'the certificate is self-signed, or signed by an authority that nobody knows here',
  mend: 'for a private authority, set NODE_EXTRA_CA_CERTS to its certificate file; otherwise check the host',
};
const notTls: Explanation = {
  message: 'the port does not speak TLS',
  mend: 'check the port; a server without TLS needs http:// in place of https://',
};

/** @see https://nodejs.org/api/errors.html and https://nodejs.org/api/tls.html for the codes */
const explanations: Readonly<Record<string, Explanation>> = {
  ENOTFOUND: nameLookup,
  EAI_AGAIN: nameLookup,
  ECONNREFUSED: {
    message: 'nothing listens at the address',
    mend: 'check host and port; if this machine needs a proxy, set HTTPS_PROXY',
  },
  ECONNRESET: {
    message: 'the connection was cut before an answer came',
    mend: 'check the port; a server with TLS needs https:// in place of http://',
  },
  ENETUNREACH: noRoute,
  EHOSTUNREACH: noRoute,
  ETIMEDOUT: noRoute,
  EPROTO: notTls,
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  HPE_INVALID_CONSTANT: {
    message: 'the port does not speak HTTP',
    mend: 'check the port',
  },
  CERT_HAS_EXPIRED: {
    message: 'the certificate has expired, if the clock of this machine is right',
    mend: 'check the clock; otherwise the certificate has to be renewed at the provider',
  },
  CERT_NOT_YET_VALID: {
    message: 'the certificate is not valid yet, if the clock of this machine is right',
    mend: 'check the clock',
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    message: 'the certificate is for another host name',
    mend: 'check the host name; somebody else may be answering for it',
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  ERR_PROXY_TUNNEL: {
    message: 'the proxy does not let the connection through',
    mend: 'check HTTPS_PROXY, its user and password, and what it allows; or name the host in NO_PROXY',
  },
};

const failures: Partial<Record<FailureCode, Explanation>> = {
  provider_timeout: {
    message: 'no answer came in time',
    mend: `check host, network and proxy; ${describeOption('providerTimeout')} allows more time`,
  },
  provider_answer_unusable: {
    message: 'the answer is larger than 1 MiB',
    mend: 'check the address: an endpoint answers in a few kilobytes',
  },
};

/** Why no connection came about, in words for the operator. */
export function explainConnection(code: string | undefined): Explanation {
  return (
    explanations[code ?? ''] ?? {
      message: `the connection failed (${code ?? 'for an unknown reason'})`,
      mend: 'check the address and the network',
    }
  );
}

/**
 * Explains a call that got no answer.
 *
 * @param proxyError the code of why the proxy cannot be reached, where there is one that cannot
 */
export function connectionProblem(
  subject: string,
  url: URL,
  { outcome, error }: ProviderCall,
  proxyError: string | undefined,
): Finding {
  // NO_PROXY may exempt the host: only where both failed alike was it the proxy.
  if (proxyError !== undefined && error === proxyError && url.protocol === 'https:') {
    return problem(
      subject,
      `not reached: the proxy does not answer (${url.host})`,
      'mend the proxy, or name the host in NO_PROXY',
    );
  }
  const { message, mend } =
    (outcome === 'answered' ? undefined : failures[outcome]) ?? explainConnection(error);
  return problem(subject, `${message} (${url.host})`, mend);
}
