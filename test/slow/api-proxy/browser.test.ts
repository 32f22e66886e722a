// A page with a session uses the provider's API through the relay, in Chromium.

import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { startLogIn } from '../front-end/support/client-page.ts';
import { useSite } from '../front-end/support/site.ts';

const { describe } = needsChromium();

describe("the provider's API in a page with a session", () => {
  const newPage = useBrowser();
  let api: Serving;
  let other: Serving;
  let page: Page;
  let answer: RequestListener;
  /** The method, path and token of each request that the API got. */
  let asked: string[][];

  before('start an API, and another page', async () => {
    api = await serve((request, response) => {
      const { method = '', url = '', headers } = request;
      asked.push([method, url, headers.authorization ?? '']);
      answer(request, response);
    });
    other = await serve((_, response) =>
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Other</title>'),
    );
  });
  after('stop them', () => Promise.all([api.close(), other.close()]));
  const site = useSite({
    isShared: true,
    pages: (relay) => ({
      '/': `<!doctype html><button>Log in</button><script type="module">
        import { createLogin } from '${relay}/client.js';
        window.login = createLogin({ relay: '${relay}/auth/provider', clientId: 'app', mode: 'session' });
        document.querySelector('button').onclick = () => login.login();
      </script>`,
    }),
    frontEnds: (origin) => `front-ends:
  app:
    origin: ${origin}
    token-delivery: session
    proxy: [{ path: /api/github/, url: "http://127.0.0.1:${api.port}/v3/", methods: [GET, POST] }]
`,
  });

  beforeEach('log in', async () => {
    asked = [];
    answer = (_, response) => response.end();
    page = await newPage();
    await page.goto(site().frontEnd);
    await startLogIn(page, 'ada');
    await page.waitForFunction('window.login?.session');
  });

  /** What the page reads of an answer. */
  async function fetched(rest: string, init = '{}') {
    const read = `login.fetch('${site().relayUrl}/api/github/${rest}', ${init}).then(async (response) => ({
      status: response.status, text: await response.text(), url: response.url,
      total: response.headers.get('X-Total-Count'),
    }))`;
    return await page.evaluate(read);
  }

  it('answers with body and headers, and no token is in the page', async () => {
    answer = (_, response) => response.writeHead(200, { 'X-Total-Count': '7' }).end('{"a":1}');
    expect(await fetched('repos?page=1')).to.include({ status: 200, text: '{"a":1}', total: '7' });
    const [[method, url, authorization = ''] = []] = asked;
    expect([method, url]).to.deep.equal(['GET', '/v3/repos?page=1']);
    const token = authorization.replace('Bearer ', '');
    const headers = { Authorization: authorization };
    expect((await fetch(`${site().provider.issuer}/me`, { headers })).status).to.equal(200);
    const held = await page.evaluate(
      'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, login.session])',
    );
    expect(held).not.to.contain(token);
  });

  it('takes JSON after a preflight', async () => {
    answer = async (request, response) => response.end(await text(request));
    const init = `{ method: 'POST', body: '{"b":2}', headers: { 'Content-Type': 'application/json' } }`;
    expect(await fetched('issues', init)).to.include({ status: 200, text: '{"b":2}' });
  });

  it('is followed to where it redirects, if that is below its URL', async () => {
    answer = ({ url }, response) => {
      if (url === '/v3/old') response.writeHead(301, { Location: '/v3/new' }).end();
      else response.end('found');
    };
    expect(await fetched('old')).to.include({
      text: 'found',
      url: `${site().relayUrl}/api/github/new`,
    });
    expect(asked.map(([, url]) => url)).to.deep.equal(['/v3/old', '/v3/new']);
  });

  it('is asked again with a new token after a 401', async () => {
    answer = (_, response) => response.writeHead(asked.length === 1 ? 401 : 200).end('again');
    expect(await fetched('a')).to.include({ status: 200, text: 'again' });
    const tokens = asked.map(([, , authorization]) => authorization);
    expect(tokens).to.have.length(2);
    expect(new Set(tokens).size).to.equal(2);
  });

  it('is out of reach for another page of the same site', async () => {
    await page.goto(`http://localhost:${other.port}/`);
    const attempts = [
      "{ credentials: 'include', headers: { 'X-Login-Relay': '1' } }",
      "{ credentials: 'include', mode: 'no-cors' }",
      "{ credentials: 'include', mode: 'no-cors', method: 'POST', body: 'a' }",
    ];
    for (const init of attempts) {
      const attempt = `fetch('${site().relayUrl}/api/github/a', ${init}).then((response) => response.status, () => 0)`;
      expect(await page.evaluate(attempt)).to.equal(0);
    }
    expect(asked).to.deep.equal([]);
  });

  it('is no page, script or frame', async () => {
    answer = (_, response) =>
      response.setHeader('Content-Type', 'text/html').end('<script>1</script>');
    const opened = await page.goto(`${site().relayUrl}/api/github/a`);
    expect(opened?.status()).to.equal(403);
    await page.goto(site().frontEnd);
    const loaded = await page.evaluate(`new Promise((resolve) => {
      const script = document.createElement('script');
      script.onload = () => resolve(true);
      script.onerror = () => resolve(false);
      script.src = '${site().relayUrl}/api/github/a';
      document.head.append(script);
    })`);
    expect(loaded).to.equal(false);
    expect(asked).to.deep.equal([]);
  });
});
