import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectReadable, needsChromium, screenshot, useBrowser } from '../../harness/browser/chromium.ts';
import { cmsPage, greeting, repeatGreeting } from '../../harness/browser/cms-page.ts';
import { serve } from '../../harness/provider/serve.ts';
import { authorize, useLoginSite } from '../../harness/relay/login-site.ts';

const { describe } = needsChromium();

/**
 * Posts the greeting to the popup again and again, as if it had been asked.
 *
 * @param popup the window, as JavaScript
 */
const insist = (popup: string) => `<script>setInterval(() => ${popup}.postMessage('${greeting}', '*'), 50);</script>`;

/** The popup that a page opened. */
const ownPopup = 'popup?';
/** The popup that the previous page in this window opened. It is found by its name. */
const earlierPopup = "open('', 'auth')";

describe('the popup of a CMS in Chromium', () => {
  const openBrowser = useBrowser();
  const site = useLoginSite({
    flags: { tokenDelivery: 'cms', provider: 'github' },
    frontEnd: (relay) => cmsPage(relay, repeatGreeting),
  });

  /** A page whose clock the test can move. The popup has the same clock. */
  async function openPage(): Promise<Page> {
    const page = await openBrowser();
    await page.clock.install();
    return page;
  }

  /** Lets the popup wait for the CMS as long as it does. */
  async function givesUp(popup: Page): Promise<void> {
    // The clock also runs by itself, so on a slow machine, the test may see only the end of the wait.
    await popup
      .getByText(/Waiting for the CMS…|The CMS does not answer\./)
      .filter({ visible: true })
      .waitFor();
    await popup.clock.runFor(5000);
    await popup.getByText('The CMS does not answer.').waitFor();
  }

  /** Opens a page, and the popup that it opens, at the provider. */
  async function openPopup(address = site().frontEnd): Promise<{ page: Page; popup: Page }> {
    const page = await openPage();
    await page.goto(address);
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Log in' }).click();
    const popup = await opened;
    await popup.getByLabel('Your name').waitFor();
    return { page, popup };
  }

  /** The same, after the login. */
  async function logIn(address: string): Promise<{ page: Page; popup: Page }> {
    const { page, popup } = await openPopup(address);
    await authorize(popup, 'Ada Lovelace');
    await popup.waitForURL(`${site().callbackUrl}*`);
    return { page, popup };
  }

  const messagesOf = (page: Page) => page.evaluate<string[][]>('messages');

  /** Resolves once the page has got such a message. The popup does not wait for that. */
  const hears = (page: Page, message: RegExp) => page.getByText(message).waitFor();

  it('posts a greeting and the result, and takes the code off its address', async () => {
    const { page, popup } = await logIn(site().frontEnd);
    await popup.getByText('You are logged in there.').waitFor();
    await hears(page, /success/);
    const [first, second = []] = await messagesOf(page);
    const [origin, result] = second;
    expect(first).to.deep.equal([site().relay, greeting]);
    expect(origin).to.equal(site().relay);
    const [, token = ''] =
      /^authorization:github:success:{"token":"([^"]+)","provider":"github"}$/.exec(`${result}`) ?? [];
    const lookUp = `fetch('${site().relay}/api/user', { headers: { Authorization: 'Bearer ${token}' } })
      .then(({ status }) => status)`;
    expect(await page.evaluate(lookUp)).to.equal(200);
    expect(popup.url()).to.equal(site().callbackUrl);
    expect(await popup.content()).not.to.contain(token);
  });

  it('says something if its script does not run', async () => {
    const popup = await openBrowser({ javaScriptEnabled: false });
    await popup.goto(`${site().callbackUrl}?error=access_denied`);
    await popup.getByText('This page needs its script, which did not run.').waitFor();
    expect(await popup.getByText('Waiting for the CMS').isVisible()).to.equal(false);
    await screenshot(popup, 'cms-popup-without-script');
  });

  it('posts the result once, however often the CMS answers', async () => {
    const { page, popup } = await openPopup();
    await page.evaluate(`setInterval(() => popup.postMessage('${greeting}', '*'), 20)`);
    await authorize(popup, 'Ada Lovelace');
    await popup.getByText('You are logged in there.').waitFor();
    await hears(page, /success/);
    await page.clock.runFor(1000);
    expect(await messagesOf(page)).to.have.length(2);
  });

  it('posts the failure if the person cancels', async () => {
    const { page, popup } = await openPopup();
    await popup.getByRole('button', { name: 'Cancel' }).click();
    await popup.getByText('The CMS shows this, too.').waitFor();
    await expectReadable(popup, 'cms-popup-cancelled');
    await hears(page, /authorization:github:error:.*cancelled/);
  });

  it("posts nothing to a stranger's page that opens it", async () => {
    const path = site().publish(cmsPage(site().relay, '') + insist(ownPopup));
    const { page, popup } = await logIn(site().attacker + path);
    await givesUp(popup);
    const { origin } = new URL(site().frontEnd);
    await popup.getByText(`the admin page is not at ${origin}, where`).waitFor();
    await expectReadable(popup, 'cms-popup-no-answer');
    expect(await messagesOf(page)).to.deep.equal([]);
  });

  it("posts nothing to a page that takes the CMS's place", async () => {
    const { page, popup } = await openPopup();
    const path = site().publish(cmsPage(site().relay, '') + insist(earlierPopup));
    // As with a link or script of the page, the two windows stay connected.
    await page.evaluate(`location.href = '${site().attacker + path}'`);
    await page.waitForURL(site().attacker + path);
    await authorize(popup, 'Ada Lovelace');
    await givesUp(popup);
    expect(await popup.evaluate('window.opener !== null')).to.equal(true);
    expect(await page.evaluate("open('', 'auth').closed")).to.equal(false);
    expect(page.context().pages(), 'the page has found the popup').to.have.length(2);
    expect(await messagesOf(page)).to.deep.equal([]);
  });

  it('posts no result to a page of the CMS if another window answers', async () => {
    const frame = `<iframe srcdoc="<script>setInterval(() => parent.popup.postMessage('${greeting}', '*'), 20)</script>"></iframe>`;
    const page = cmsPage(site().relay, '').replace('let popup', 'var popup') + frame;
    const { page: opened, popup } = await logIn(site().frontEnd + site().publish(page));
    await opened.getByText(greeting).waitFor();
    await givesUp(popup);
    expect(await messagesOf(opened)).to.deep.equal([[site().relay, greeting]]);
  });

  for (const answer of [
    "popup.postMessage('authorizing:gitlab', origin);",
    "popup.postMessage({ toString: () => data }.toString() + ' ', origin);",
    'popup.postMessage([data], origin);',
  ]) {
    it(`posts no result after another answer: ${answer}`, async () => {
      const path = site().publish(cmsPage(site().relay, answer));
      const { page, popup } = await logIn(site().frontEnd + path);
      await page.getByText(greeting).waitFor();
      await givesUp(popup);
      expect(await messagesOf(page)).to.deep.equal([[site().relay, greeting]]);
    });
  }

  it('says why if it has no opener', async () => {
    const page = await openPage();
    await page.goto(`${site().relay}/auth`);
    await authorize(page, 'Ada Lovelace');
    await page.getByText('This window has lost the page that opened it').waitFor();
    await expectReadable(page, 'cms-popup-no-opener');
    expect(page.url()).to.equal(site().callbackUrl);
  });

  it('says why if the page that opened it has Cross-Origin-Opener-Policy: same-origin', async () => {
    const admin = await serve((_, response) => {
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      response.setHeader('Content-Type', 'text/html');
      response.end(cmsPage(site().relay, ''));
    });
    try {
      const page = await openPage();
      await page.goto(`http://localhost:${admin.port}`);
      const opened = page.context().waitForEvent('page');
      await page.getByRole('button', { name: 'Log in' }).click({ noWaitAfter: true });
      const popup = await opened;
      await authorize(popup, 'Ada Lovelace');
      await popup.getByText('Cross-Origin-Opener-Policy: same-origin').waitFor();
      expect(await messagesOf(page)).to.deep.equal([]);
    } finally {
      await admin.close();
    }
  });
});

describe('the popup of a CMS at several addresses, in Chromium', () => {
  const openBrowser = useBrowser();
  const portOf = ({ frontEnd }: { readonly frontEnd: string }) => new URL(frontEnd).port;
  const useSite = (flags: (site: { readonly frontEnd: string }) => string) =>
    useLoginSite({
      flags: (one) => ({ tokenDelivery: 'cms', provider: 'github', scope: 'repo', origin: flags(one) }),
      frontEnd: (relay) => cmsPage(relay, repeatGreeting),
    });
  const exact = useSite((one) => `${one.frontEnd} http://127.0.0.1:${portOf(one)}`);
  const previews = useSite(() => 'https://blog.example.com http://localhost:*');

  /** Logs in with the popup of a page, and gives the messages that this page has got once the popup shows a text. */
  async function logInAt(address: string, shown: string): Promise<string[][]> {
    const page = await openBrowser();
    await page.clock.install();
    await page.goto(address);
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Log in' }).click();
    const popup = await opened;
    await authorize(popup, 'Ada Lovelace');
    await popup.waitForURL('**/callback*');
    if (shown === gone) await popup.clock.runFor(6000);
    await popup.getByText(shown).filter({ visible: true }).waitFor();
    if (shown === done) await page.getByText(/success/).waitFor();
    return await page.evaluate<string[][]>('messages');
  }

  const done = 'You are logged in there.';
  const gone = 'The CMS does not answer.';

  it('gives the token to each address, after one greeting', async () => {
    for (const address of [exact().frontEnd, `http://127.0.0.1:${portOf(exact())}`]) {
      const messages = await logInAt(address, done);
      expect(messages.map(([origin]) => origin)).to.deep.equal([exact().relay, exact().relay]);
      expect(messages[0]?.[1]).to.equal(greeting);
    }
  });

  it('gives neither greeting nor token to another address', async () => {
    const { port } = new URL(exact().frontEnd);
    for (const address of [`http://localhost:${port}`, `http://other.localhost:${port}`]) {
      const path = exact().publish(cmsPage(exact().relay, '') + insist(ownPopup));
      expect(await logInAt(address + path, gone)).to.deep.equal([]);
    }
  });

  it('gives the token at each port of a pattern, and elsewhere a greeting without a secret', async () => {
    const port = portOf(previews());
    for (const one of [port, new URL(previews().attacker).port]) {
      const path = previews().publish(cmsPage(previews().relay, repeatGreeting));
      const messages = await logInAt(`http://localhost:${one}${path}`, done);
      expect(messages.map(([, message = '']) => message.slice(0, 18))).to.deep.equal([greeting, 'authorization:gith']);
    }
    for (const host of ['127.0.0.1', 'front-end.localhost', 'localhost.attacker.localhost']) {
      const path = previews().publish(cmsPage(previews().relay, repeatGreeting) + insist(ownPopup));
      const messages = await logInAt(`http://${host}:${port}${path}`, gone);
      expect(messages, host).to.deep.equal([[previews().relay, greeting]]);
    }
  });

  it('gives nothing to a page without an origin', async () => {
    const path = previews().publish(cmsPage(previews().relay, repeatGreeting) + insist(ownPopup));
    const frame = `<iframe sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox" src="${path}"></iframe>`;
    const page = await openBrowser();
    await page.clock.install();
    await page.goto(`http://localhost:${portOf(previews())}${previews().publish(frame)}`);
    const opened = page.context().waitForEvent('page');
    const [, framed = page.mainFrame()] = page.frames();
    await framed.getByRole('button', { name: 'Log in' }).click();
    const popup = await opened;
    await authorize(popup, 'Ada Lovelace');
    await popup.waitForURL('**/callback*');
    await popup.clock.runFor(6000);
    await popup.getByText(gone).filter({ visible: true }).waitFor();
    expect(await framed.evaluate<string[][]>('messages')).to.deep.equal([[previews().relay, greeting]]);
  });

  it('gives nothing to a page of a stranger that takes the place of the CMS, although it hears the greeting', async () => {
    const page = await openBrowser();
    await page.clock.install();
    await page.goto(`http://localhost:${portOf(previews())}`);
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Log in' }).click();
    const popup = await opened;
    await popup.getByLabel('Your name').waitFor();
    const path = previews().publish(cmsPage(previews().relay, repeatGreeting) + insist(earlierPopup));
    await page.evaluate(`location.href = '${previews().attacker + path}'`);
    await page.waitForURL(previews().attacker + path);
    await authorize(popup, 'Ada Lovelace');
    await popup.waitForURL('**/callback*');
    await popup.clock.runFor(6000);
    await popup.getByText(gone).filter({ visible: true }).waitFor();
    const messages = await page.evaluate<string[][]>('messages');
    expect(messages.filter(([, message]) => message !== greeting)).to.deep.equal([]);
  });
});
