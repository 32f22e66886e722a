import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BrowserContext } from 'playwright-core';
import { launchWithProfile, needsChromium } from '../../harness/browser/chromium.ts';
import { authorize, useLoginSite } from '../../harness/relay/login-site.ts';

const clientPage = readFileSync(new URL('../front-end/pages/client.html', import.meta.url), 'utf8');
const { describe } = needsChromium();

describe('the browser client in Chromium', () => {
  const site = useLoginSite({
    frontEnd: (relay) => clientPage.replaceAll('https://login.example.com', relay),
  });
  let profile: string;
  let browser: BrowserContext;
  // A separate profile, because a private window stores nothing in frames of other sites.
  beforeEach('Chromium starts', async () => {
    profile = mkdtempSync(join(tmpdir(), 'login-relay-profile-'));
    const cookies = { profile: { cookie_controls_mode: 0, block_third_party_cookies: false } };
    mkdirSync(join(profile, 'Default'));
    writeFileSync(join(profile, 'Default/Preferences'), JSON.stringify(cookies));
    browser = await launchWithProfile(profile, {
      args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP notes.test 127.0.0.1'],
    });
  });
  afterEach('Chromium ends', async () => {
    await browser.close();
    rmSync(profile, { recursive: true, force: true });
  });

  it('logs in by a popup of a frame of another site', async () => {
    const page = await browser.newPage();
    const path = site().publish(`<iframe src="${site().frontEnd}"></iframe>`);
    await page.goto(site().attacker + path);
    const frame = page.frameLocator('iframe');
    await frame.getByText('Nobody').waitFor();
    const opened = page.waitForEvent('popup');
    await frame.getByRole('button', { name: 'in a popup' }).click();
    const popup = await opened;
    await popup.getByLabel('Your name').waitFor();
    const isClosed = popup.waitForEvent('close');
    await authorize(popup, 'Ada Lovelace');
    await frame.getByText('Hello, Ada Lovelace').waitFor();
    await frame.getByText('popup done').waitFor();
    await isClosed;
    expect(site().tokenCalls).to.equal(1);
  });

  it('says that it needs https', async () => {
    const page = await browser.newPage();
    await page.goto(site().frontEnd.replace('front-end.localhost', 'notes.test'));
    await page.getByText('insecure_context').waitFor();
  });
});
