import { expect } from 'chai';
import { setCookies } from '../harness/browser/cookie-jar.ts';
import { expectSessionFailure, type SessionPage, sessionOrigin } from '../harness/login/session-page.ts';
import { baseUrl } from '../harness/relay/relay-under-test.ts';
import { apiPath, useRelayedApi } from './support/relayed-api.ts';

describe("the provider's API through the relay", () => {
  const api = useRelayedApi();

  it('gets the access token of the session, and the page gets its answer', async () => {
    api.answer = (_, response) => response.writeHead(200, { 'X-Total-Count': '1' }).end('{"a":1}');
    const { status, headers, body } = await api.send('repos/a/b?page=2');
    expect(status).to.equal(200);
    expect(`${body}`).to.equal('{"a":1}');
    expect(headers['x-total-count']).to.equal('1');
    const { method, url, headers: sent } = api.only();
    expect(`${method} ${url}`).to.equal('GET /v3/repos/a/b?page=2');
    const [scheme, token = ''] = (sent.authorization ?? '').split(' ');
    expect(scheme).to.equal('Bearer');
    expect(api.provider.accepts(token)).to.equal(true);
  });

  it('gets nothing of the relay, of the browser and of proxies', async () => {
    await api.send('a', 'GET', [
      ['Cookie', 'theme=dark'],
      ['Referer', `${sessionOrigin}/`],
      ['X-Forwarded-For', '192.0.2.1'],
      ['X-HTTP-Method-Override', 'DELETE'],
      ['Connection', 'X-Secret'],
      ['X-Secret', '1'],
      ['X-GitHub-Api-Version', '2022-11-28'],
    ]);
    const { host, authorization: _, ...headers } = api.only().headers;
    expect(host).to.match(/^127\.0\.0\.1:\d+$/);
    expect(headers).to.deep.equal({
      accept: 'application/json',
      'accept-encoding': 'identity',
      connection: 'keep-alive',
      'user-agent': headers['user-agent'],
      'x-github-api-version': '2022-11-28',
    });
    expect(headers['user-agent']).to.match(/^login-relay\//);
  });

  it('cannot act on the origin of the relay', async () => {
    api.answer = (_, response) => {
      response.writeHead(200, {
        'Set-Cookie': ['__Host-Http-lr_session_app=planted; Secure; Path=/', 'a=b'],
        'Clear-Site-Data': '"*"',
        'Access-Control-Allow-Origin': '*',
        'Content-Security-Policy': "script-src 'unsafe-inline'",
        'Cache-Control': 'public, max-age=1000',
        'X-Request-Id': 'made up',
        'Content-Type': 'text/html',
      });
      response.end('<script>alert(1)</script>');
    };
    const answer = await api.send('page');
    const { headers } = answer;
    expect(setCookies(answer)).to.deep.equal([]);
    expect(headers['content-type']).to.equal('text/html');
    expect(headers['x-content-type-options']).to.equal('nosniff');
    expect(headers['content-security-policy']).to.equal("default-src 'none'; frame-ancestors 'none'; sandbox");
    expect(headers['cache-control']).to.equal('no-store');
    expect(headers['access-control-allow-origin']).to.equal(sessionOrigin);
    expect(headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
    expect(headers).not.to.have.property('clear-site-data');
  });

  it('without a Content-Type is no page', async () => {
    api.answer = (_, response) => response.end('<script>');
    expect((await api.send('a')).headers['content-type']).to.equal('application/octet-stream');
  });

  it('shows its headers to the page', async () => {
    api.answer = (_, response) => response.writeHead(200, { ETag: '"a"', 'X-Next': '2' }).end('a');
    const exposed = (await api.send('a')).headers['access-control-expose-headers']?.split(',');
    expect(exposed).to.include.members(['X-Request-Id', 'etag', 'x-next']);
    const { headers } = await api.page.send(`${apiPath}a`, 'GET', { origin: undefined });
    expect(headers).not.to.have.property('access-control-expose-headers');
  });

  it('can be read only by the pages of its front end', async () => {
    for (const origin of ['https://evil.example', 'null', 'https://app.example']) {
      const answer = await api.page.send(`${apiPath}a`, 'GET', { origin });
      expectSessionFailure(answer, 'origin_foreign');
      expect(answer.headers).not.to.have.property('access-control-allow-origin');
    }
    expect(api.requests).to.be.empty;
  });

  it('can be asked after a preflight', async () => {
    const preflight: [string, string][] = [
      ['Access-Control-Request-Method', 'DELETE'],
      ['Access-Control-Request-Headers', 'x-login-relay,content-type'],
    ];
    const send = (origin: string) =>
      api.page.send(`${apiPath}a`, 'OPTIONS', { origin, header: undefined, headers: preflight });
    const { status, headers } = await send(sessionOrigin);
    expect(status).to.equal(204);
    expect(headers['access-control-allow-origin']).to.equal(sessionOrigin);
    expect(headers['access-control-allow-credentials']).to.equal('true');
    expect(headers['access-control-allow-methods']?.split(',')).to.include.members(['DELETE']);
    expect(headers['access-control-allow-headers']).to.equal('x-login-relay,content-type');
    const foreign = await send('https://evil.example');
    expect(foreign.headers).not.to.have.property('access-control-allow-origin');
    expect(api.requests).to.be.empty;
  });

  it('is guarded like everything else that the cookie authorizes', async () => {
    const send = (request: Parameters<SessionPage['send']>[2]) => api.page.send(`${apiPath}a`, 'GET', request);
    expectSessionFailure(await send({ header: undefined }), 'request_header_missing');
    expectSessionFailure(await send({ site: 'cross-site' }), 'cross_site_refused');
    expectSessionFailure(await send({ host: 'evil.example' }), 'host_foreign');
    expectSessionFailure(await send({ cookie: 'a=b' }), 'session_missing');
    const [name, value] = api.page.cookie.split('=');
    const planted = `${name?.replace('_app', '_other')}=${value}`;
    expectSessionFailure(await send({ cookie: planted }), 'session_missing');
    expect(api.requests).to.be.empty;
  });

  it('is not chosen by the query, which belongs to the API', async () => {
    await api.send('a?client_id=other&provider=none');
    expect(api.only().url).to.equal('/v3/a?client_id=other&provider=none');
  });

  it('does not take a token of the page', async () => {
    const headers: [string, string][] = [['Authorization', 'Bearer of-the-page']];
    const answer = await api.page.send(`${apiPath}a`, 'GET', { cookie: 'a=b', headers });
    expectSessionFailure(answer, 'session_missing');
    await api.send('a', 'GET', headers);
    expect(api.only().headers.authorization).not.to.include('of-the-page');
  });

  describe('by its path', () => {
    it('refuses what leads out of it, encoded or not', async () => {
      for (const rest of ['../x', '%2e%2e/x', 'a%2fb', 'a\\..\\x', '/evil.example/', '%00', '%']) {
        expectSessionFailure(await api.send(rest), 'path_refused');
      }
      expect(api.requests).to.be.empty;
    });

    it('refuses the absolute form of a URL', async () => {
      const raw = await api.relay.sendBytes(
        `GET http://evil.example${apiPath}a HTTP/1.1\r\nHost: relay.example\r\nX-Login-Relay: 1\r\nOrigin: ${sessionOrigin}\r\nCookie: ${api.page.cookie}\r\nConnection: close\r\n\r\n`,
      );
      expectSessionFailure(raw, 'path_refused');
      expect(api.requests).to.be.empty;
    });

    it('knows only whole segments', async () => {
      for (const path of ['/api/github', '/api/githubx/a', '//api/github/a', '/api/GitHub/a']) {
        expect((await api.page.send(path)).status, path).to.equal(404);
      }
      expect(api.requests).to.be.empty;
    });

    it('leaves the endpoints of the relay where they are', async () => {
      expect((await api.page.lookUp()).status).to.equal(200);
      expect((await api.relay.get('/healthz')).status).to.equal(200);
      expect(api.requests).to.be.empty;
    });
  });

  describe('by its method', () => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      it(`passes on ${method}`, async () => {
        await api.send('a', method);
        expect(api.only().method).to.equal(method);
      });
    }

    for (const method of ['QUERY', 'TRACE', 'PROPFIND', 'LINK']) {
      it(`refuses ${method}`, async () => {
        const answer = await api.send('a', method);
        expectSessionFailure(answer, 'method_not_allowed');
        expect(answer.headers.allow).to.equal('GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
        expect(api.requests).to.be.empty;
      });
    }
  });

  it('answers HEAD with the headers of the API', async () => {
    api.answer = (_, response) =>
      response.writeHead(200, { 'Content-Length': '1234', 'Content-Type': 'image/png' }).end();
    const { status, headers, body } = await api.send('a', 'HEAD');
    expect(status).to.equal(200);
    expect(headers).to.include({ 'content-length': '1234', 'content-type': 'image/png' });
    expect(body).to.have.length(0);
  });

  it('leads redirects below its URL through the relay, and others nowhere', async () => {
    const redirects: readonly (readonly [string, string | undefined])[] = [
      ['/v3/repositories/1?a=b', `${baseUrl}${apiPath}repositories/1?a=b`],
      ['https://evil.example/v3/', undefined],
      ['/admin', undefined],
    ];
    for (const [location, expected] of redirects) {
      api.answer = (_, response) => response.writeHead(301, { Location: location }).end('moved');
      const { status, headers } = await api.send('a');
      expect(status).to.equal(301);
      expect(headers.location).to.equal(expected);
    }
    expect(api.requests).to.have.length(redirects.length);
  });

  for (const status of [201, 204, 206, 304, 400, 403, 404, 422, 429, 500, 503]) {
    it(`passes on a ${status}`, async () => {
      api.answer = (_, response) => response.writeHead(status).end();
      expect((await api.send('a')).status).to.equal(status);
    });
  }

  it('answers 401 with invalid_token if the API refuses the token', async () => {
    api.answer = (_, response) => {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="api"' }).end('secret details');
    };
    const answer = await api.send('a');
    expectSessionFailure(answer, 'token_invalid');
    expect(answer.headers['www-authenticate']).to.equal('Bearer error="invalid_token"');
    expect(setCookies(answer)).to.deep.equal([]);
    const line = await api.lineOf('token_invalid');
    expect(line['provider']).to.include({ endpoint: 'api', outcome: 'answered', status: 401 });
  });

  it('answers 502 if the API asks for the credentials of a proxy, or sends no known status', async () => {
    for (const status of ['407 Proxy', '999 Denied', '600 What', '099 Early']) {
      api.answer = ({ socket }) =>
        socket.end(`HTTP/1.1 ${status}\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n`);
      const answer = await api.send('a', 'POST');
      expect(answer.status, status).to.equal(502);
      expect(answer.headers).not.to.have.property('proxy-authenticate');
    }
  });

  it('is logged by its route, never by its path', async () => {
    await api.send('secret-path?secret-query');
    const line = await api.lineOf('ok');
    expect(line).to.include({ method: 'GET', route: 'proxy', status: 200, outcome: 'ok' });
    expect(line['level']).to.equal('info');
    expect(line['provider']).to.include({ endpoint: 'api', outcome: 'answered', status: 200 });
    expect(api.relay.process.stdout).not.to.match(/secret-(path|query)/);
  });
});

describe("the provider's API in logs and metrics", () => {
  const api = useRelayedApi({ 'metrics-port': '0' });

  it('has a single route, and an error of the API is not counted as an error of the relay', async () => {
    api.answer = (_, response) => response.writeHead(500).end();
    await api.send('made-up-path');
    const metrics = await api.relay.metrics();
    expect(metrics).to.contain('login_relay_requests_total{route="proxy",status="500"} 1');
    expect(metrics).to.contain('login_relay_unexpected_errors_total 0\n');
    expect(metrics).to.match(/provider_calls_total\{endpoint="api",outcome="answered",status="5xx"\} 1/);
    expect(metrics).not.to.contain('made-up');
    expect(await api.lineOf('ok')).to.include({ level: 'info', status: 500 });
  });
});

describe("the provider's API of a relay with a rate limit", () => {
  const api = useRelayedApi({ 'rate-limit': '2' });

  it('is limited by it', async () => {
    expect((await api.send('a')).status).to.equal(200);
    expect((await api.send('a')).status).to.equal(429);
  });
});
