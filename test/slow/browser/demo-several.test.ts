import { expect } from 'chai';
import { needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { RelayProcess } from '../../harness/relay/relay-process.ts';

const { describe } = needsChromium();

describe('the demo with two providers and two front ends, in Chromium', () => {
  const openPage = useBrowser();
  let demo: RelayProcess;

  before('the demo starts', () => {
    demo = new RelayProcess({ words: ['demo', '--several'], flags: { port: '0' } });
  });

  after('the demo stops', async () => {
    const { code, stderr } = await demo.stop('SIGINT');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  });

  const address = (name: string) =>
    demo.output((stdout) => new RegExp(`^ *${name} +(http://\\S+)\n`, 'm').exec(stdout)?.[1]);

  it('logs in at both, as two people in one browser', async () => {
    const first = await openPage();
    const second = await first.context().newPage();
    for (const { page, name, frontEnd, provider, brand } of [
      {
        page: first,
        name: 'Ada Lovelace',
        frontEnd: await address('front end'),
        provider: await address('provider'),
        brand: 'Demo provider',
      },
      {
        page: second,
        name: 'Grace Hopper',
        frontEnd: await address('intranet'),
        provider: await address('staff'),
        brand: 'Staff provider',
      },
    ]) {
      await page.goto(frontEnd);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText(brand).waitFor();
      expect(new URL(page.url()).origin).to.equal(provider);
      await screenshot(page, `several-${brand}`);
      await page.getByLabel('Your name').fill(name);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('heading', { name }).waitFor();
      expect(new URL(page.url()).origin).to.equal(frontEnd);
      await screenshot(page, `several-${name}`);
    }
    for (const [page, name] of [
      [first, 'Ada Lovelace'],
      [second, 'Grace Hopper'],
    ] as const) {
      await page.reload();
      await page.getByRole('heading', { name }).waitFor();
    }
  });
});
