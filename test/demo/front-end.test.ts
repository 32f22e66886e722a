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
