import { expect } from 'chai';
import { type OpenPort, openPort } from '../../../src/demo/ports.ts';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { RelayProcess } from '../../harness/relay/relay-process.ts';

const { describe } = needsChromium();

for (const tokenDelivery of ['query', 'code', 'session']) {
  describe(`a page of one’s own at the demo, with ${tokenDelivery}, in Chromium`, () => {
    const openPage = useBrowser();
    let demo: RelayProcess;
    let own: OpenPort;

    before('the demo and the page start', async () => {
      own = await openPort(0, 'a test');
      const flags = { port: '0', origin: own.url, 'token-delivery': tokenDelivery };
      demo = new RelayProcess({ words: ['demo'], flags });
      const lines = await demo.output(
        (text) => /Put this into the page:\n\n(.*?)\n\n/s.exec(text)?.[1],
      );
      const page = `<!doctype html><title>My page</title>${lines}`;
      own.serve((_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(page);
      });
    });

    after('both stop', async () => {
      await own.close();
      const { code, stderr } = await demo.stop('SIGINT');
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    });

    it('logs in with the lines that the demo prints', async () => {
      const page = await openPage();
      await page.goto(own.url);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByLabel('Your name').fill('Ada Lovelace');
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText('Hello, ada-lovelace').waitFor();
      expect(page.url()).to.equal(`${own.url}/`);
    });
  });
}
