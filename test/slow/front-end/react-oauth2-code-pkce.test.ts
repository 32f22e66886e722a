import { expect } from 'chai';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { startLogIn } from './support/client-page.ts';
import { useLibrarySite } from './support/site.ts';

const { describe } = needsChromium();
const stored = (name: string) => `JSON.parse(localStorage.getItem('ROCP_${name}'))`;

describe('react-oauth2-code-pkce in Chromium, in React’s StrictMode', () => {
  const openPage = useBrowser();
  const site = useLibrarySite(
    'react-oauth2-code-pkce',
    { 'refresh-tokens': 'bearer' },
    // The library takes a token for expired 30 seconds before its end.
    'tokenExpiresIn: 20,',
  );

  it('redeems the code once, and renews an expired token once when the page is loaded', async () => {
    const calls = () => site().provider.tokenRequests.length;
    const page = await openPage();
    // The library also renews an expired token every few seconds.
    await page.clock.install({ time: Date.now() - 120_000 });
    await page.clock.pauseAt(Date.now() - 60_000);
    await page.goto(site().frontEnd);
    const before = calls();
    await startLogIn(page, 'ada');
    await page.getByText('Hello, The person ada').waitFor();
    expect(calls()).to.equal(before + 1);
    expect(page.url()).to.equal(`${site().frontEnd}/`);
    expect(await page.getByRole('alert').textContent()).to.equal('');
    // As long as the relay says, not as long as the access token.
    const ends = Number(await page.evaluate(stored('refreshTokenExpire')));
    expect((ends - Date.now() / 1000) / 86_400).to.be.within(29.9, 30);

    const token = await page.evaluate(stored('token'));
    await page.reload();
    await page.waitForFunction(`${stored('token')} !== '${token}'`);
    await page.getByText('Hello, The person ada').waitFor();
    expect(calls()).to.equal(before + 2);
    expect(page.url()).to.equal(`${site().frontEnd}/`);
  });
});
