import { expect } from 'chai';
import { claimedIdentities } from '../../src/api-proxy/claimed-identities.ts';
import {
  apiRequestHeaders,
  mayReachApi,
  pageResponseHeaders,
  resourceRequestHeaders,
} from '../../src/api-proxy/passed-headers.ts';

const request = (headers: Record<string, string | string[]>, more: readonly string[] = []) =>
  apiRequestHeaders(headers, more, 'token');

describe('the headers of a request to the API', () => {
  it('have the access token of the session', () => {
    expect(request({})).to.deep.equal({ authorization: 'Bearer token' });
  });

  it('have what the page sends to the API', () => {
    for (const name of [
      'accept',
      'accept-encoding',
      'accept-language',
      'content-type',
      'content-encoding',
      'idempotency-key',
      'if-match',
      'if-modified-since',
      'if-none-match',
      'if-range',
      'if-unmodified-since',
      'prefer',
      'range',
      'x-github-api-version',
      'x-goog-user-project',
      'x-requested-with',
    ]) {
      const sent = { [name]: 'W/"a", b=c' };
      expect(request(sent), name).to.deep.equal({ ...sent, authorization: 'Bearer token' });
    }
  });

  it('have what the configuration adds', () => {
    const sent = { 'x-goog-api-key': '1', 'x-other': '2' };
    expect(request(sent, ['x-goog-api-key'])).to.deep.equal({
      'x-goog-api-key': '1',
      authorization: 'Bearer token',
    });
  });

  /** No configuration can add the headers of the first groups. */
  const dropped = {
    'the credentials of the relay': ['authorization', 'cookie', 'cookie2', 'dpop', 'x-login-relay'],
    'the headers of the connection': [
      'connection',
      'expect',
      'http2-settings',
      'keep-alive',
      'max-forwards',
      'proxy-authorization',
      'proxy-connection',
      'te',
      'trailer',
      'transfer-encoding',
      'upgrade',
      'host',
      'content-length',
    ],
    'what browsers say of the page': [
      'access-control-request-method',
      'access-control-request-headers',
      'origin',
      'referer',
      'sec-ch-ua',
      'sec-fetch-site',
      'sec-purpose',
      'user-agent',
    ],
    'what proxies say of the client': [
      'fastly-client-ip',
      'forwarded',
      'true-client-ip',
      'via',
      'wl-proxy-client-ip',
      'x-cluster-client-ip',
      'x-forwarded',
      'x-forwarded-for',
      'x-forwarded-host',
      'x-real-ip',
    ],
    'what names another host, path or method': [
      'x-http-host-override',
      'x-http-method',
      'x-http-method-override',
      'x-http-path-override',
      'x-method-override',
      'x-original-url',
      'x-override-url',
      'x-rewrite-url',
    ],
    'anything else that is not listed': [
      'base-url',
      'cf-connecting-ip',
      'private-token',
      'proxy',
      'remote-user',
      'ssl-client-verify',
      'sudo',
      'upgrade-insecure-requests',
      'x-amzn-trace-id',
      'x-forwarded_for',
      'x-goog-iap-jwt-assertion',
      'x-remote-user',
      'x-request-id',
      'x-scheme',
      'x-sudo',
      'x_http_method_override',
    ],
  };
  for (const [what, names] of Object.entries(dropped)) {
    it(`have nothing of ${what}`, () => {
      for (const name of names) {
        expect(request({ [name]: 'x' }), name).to.deep.equal({ authorization: 'Bearer token' });
      }
    });
  }

  it('have some that no configuration adds', () => {
    const { 'anything else that is not listed': _, ...never } = dropped;
    for (const name of Object.values(never).flat()) expect(mayReachApi(name), name).to.be.false;
    expect(mayReachApi('x-goog-api-key')).to.be.true;
  });

  it('have nothing that Connection names, except the access token', () => {
    const sent = { connection: 'close, X-Secret ,authorization', 'x-secret': '1', accept: '*/*' };
    expect(request(sent)).to.deep.equal({ accept: '*/*', authorization: 'Bearer token' });
  });
});

describe('the headers of a request to a server behind the gateway', () => {
  it('have no name with which a proxy names a person, whatever its ending is', () => {
    for (const [pattern, names] of Object.entries(claimedIdentities)) {
      expect(pattern).to.match(/^[a-z0-9-]+\*?$/);
      for (const name of [...names, pattern.replace('*', 'anything')]) {
        const read = name.toLowerCase();
        expect(read, name).to.satisfy((one: string) => one.startsWith(pattern.replace('*', '')));
        const sent = { [read]: 'mallory', [read.replaceAll('-', '_')]: 'mallory', 'mcp-method': 'a' };
        expect(resourceRequestHeaders(sent), name).to.deep.equal({ 'mcp-method': 'a' });
      }
    }
  });

  it('keep the headers of protocols whose names only begin in the same way', () => {
    for (const name of [
      'x-api-key',
      'x-trace-id',
      'x-gitlab-event',
      'x-goog-user-project',
      'x-amzn-trace-id',
      'ce-id',
    ]) {
      expect(resourceRequestHeaders({ [name]: 'a' }), name).to.deep.equal({ [name]: 'a' });
    }
  });
});

describe('the headers of a response to the page', () => {
  it('have what describes the content and the API', () => {
    for (const name of [
      'accept-ranges',
      'allow',
      'content-disposition',
      'content-encoding',
      'content-length',
      'content-range',
      'content-type',
      'etag',
      'last-modified',
      'link',
      'ratelimit',
      'retry-after',
      'x-ratelimit-remaining',
      'x-total-count',
    ]) {
      const sent = { [name]: '<https://api.example/?page=2>; rel="next"' };
      expect(pageResponseHeaders(sent), name).to.deep.equal(sent);
    }
  });

  it('join several values to one list', () => {
    expect(pageResponseHeaders({ 'x-a': ['1', '2'] })).to.deep.equal({ 'x-a': '1, 2' });
  });

  const dropped = {
    'the cookies of the API': ['set-cookie', 'set-cookie2'],
    'what acts on the whole origin': [
      'accept-ch',
      'activate-storage-access',
      'alt-svc',
      'clear-site-data',
      'critical-ch',
      'cross-origin-opener-policy',
      'expect-ct',
      'nel',
      'origin-agent-cluster',
      'origin-trial',
      'public-key-pins',
      'report-to',
      'reporting-endpoints',
      'service-worker-allowed',
      'set-login',
      'speculation-rules',
      'strict-transport-security',
      'use-as-dictionary',
      'secure-session-registration',
      'sec-session-challenge',
      'shared-storage-write',
      'x-permitted-cross-domain-policies',
    ],
    'what decides who may read or show it': [
      'access-control-allow-origin',
      'access-control-allow-credentials',
      'access-control-expose-headers',
      'content-security-policy',
      'content-security-policy-report-only',
      'cross-origin-resource-policy',
      'permissions-policy',
      'referrer-policy',
      'timing-allow-origin',
      'x-content-security-policy',
      'x-content-type-options',
      'x-frame-options',
      'x-webkit-csp',
      'x-xss-protection',
    ],
    'what makes browsers ask or go elsewhere': [
      'location',
      'proxy-authenticate',
      'refresh',
      'sourcemap',
      'x-sourcemap',
      'www-authenticate',
    ],
    'what proxies before the relay obey': [
      'x-accel-buffering',
      'x-accel-redirect',
      'x-envoy-immediate-health-check-fail',
      'x-lighttpd-send-file',
      'x-reproxy-url',
      'x-sendfile',
      'edge-control',
      'x-archive-files',
    ],
    'what caches obey': ['age', 'cache-control', 'expires', 'pragma', 'vary'],
    'the headers of the connection': ['connection', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade'],
    'what the relay itself says': ['date', 'server', 'via', 'x-login-relay', 'x-request-id'],
  };
  for (const [what, names] of Object.entries(dropped)) {
    it(`have nothing of ${what}`, () => {
      for (const name of names) expect(pageResponseHeaders({ [name]: 'x' }), name).to.be.empty;
    });
  }

  it('have nothing that Connection names', () => {
    expect(pageResponseHeaders({ connection: 'X-A', 'x-a': '1' })).to.be.empty;
  });
});
