import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { deliveries } from '../../src/demo/deliveries.ts';
import { createFrontEnd } from '../../src/demo/front-end.ts';
import { type OpenPort, openPort } from '../../src/demo/ports.ts';
import { createSteps } from '../../src/demo/steps.ts';
import { projectRoot } from '../harness/project/run.ts';

describe('demo front end', () => {
  let port: OpenPort;

  before('start it', async () => {
    port = await openPort(0, 'a test');
    port.serve(
      createFrontEnd(
        'https://relay.example/?a="&b',
        Object.values(deliveries).map((delivery) => ({ ...delivery, name: 'shop' })),
        createSteps(),
      ),
    );
  });

  after('stop it', async () => {
    await port.close();
  });

  it('is one page with the relay’s address, never cached, without a referrer', async () => {
    const response = await fetch(`${port.url}/?access_token=x&state=y`);
    expect(response.status).to.equal(200);
    expect(Object.fromEntries(response.headers)).to.include({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(await response.text()).to.contain(
      '<meta name="login-relay" content="https://relay.example/?a=&quot;&amp;b">',
    );
  });

  it('may run only its own scripts and the relay’s client, and connect only to both', async () => {
    const policy = (await fetch(port.url)).headers.get('content-security-policy')?.split('; ');
    expect(policy).to.include.members([
      ...["default-src 'none'", "script-src 'self' https://relay.example"],
      ...["connect-src 'self' https://relay.example", 'img-src data:'],
      ...["frame-ancestors 'none'", "base-uri 'none'"],
    ]);
  });

  for (const { path, guide } of Object.values(deliveries)) {
    it(`names at ${path} a document that exists`, async () => {
      const page = await (await fetch(port.url + path)).text();
      expect(page).to.contain(`How to do this in your page: <code>${guide}</code>`);
      const [file = '', anchor] = guide.split('#');
      const titles = readFileSync(join(projectRoot, file), 'utf8').matchAll(/^#+ (.*)$/gm);
      const anchors = [...titles].map(([, title = '']) => title.toLowerCase().replaceAll(' ', '-'));
      if (anchor !== undefined) expect(anchors).to.include(anchor);
    });
  }
});
