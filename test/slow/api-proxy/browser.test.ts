// A page with a session uses the provider's API through the relay, in Chromium.

import type { RequestListener } from 'node:http';
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

  /** The parts of an answer that the page reads. */
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
    const [firstRequest = []] = asked;
    const [method, url, authorization = ''] = firstRequest;
    expect([method, url]).to.deep.equal(['GET', '/v3/repos?page=1']);
    const token = authorization.replace('Bearer ', '');
    const headers = { Authorization: authorization };
    expect((await fetch(`${site().provider.issuer}/me`, { headers })).status).to.equal(200);
    const held = await page.evaluate(
      'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, login.session])',
    );
    expect(held).not.to.contain(token);
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
    answer = (_, response) => response.setHeader('Content-Type', 'text/html').end('<script>1</script>');
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
