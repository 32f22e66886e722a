import { expect } from 'chai';
import { navigation } from '../harness/browser/fake-browser.ts';
import { expectRedirect } from '../harness/expect/expectations.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { guardedOrigin, guardedRelay } from './support/guarded-relay.ts';

const nobody = 'allow: { users: [somebody-else] }';

describe('the answer to a refused person', () => {
  const relay = guardedRelay();

  it('is a page that says who they are, and leads to another account', async () => {
    await relay().guard({ frontEnd: `error-delivery: page, ${nobody}` });
    const answer = await relay().logIn();
    expect(answer.status).to.equal(403);
    const page = `${answer.body}`;
    expect(page).to.contain('You are logged in as <b><bdi>ada</bdi></b>.');
    expect(page).to.contain('This account may not use this application.');
    const [, link = ''] = /<a href="([^"]*)">Log in with another account<\/a>/.exec(page) ?? [];
    const { origin, pathname, search } = new URL(link.replaceAll('&amp;', '&'));
    expect(search).to.equal('?prompt=select_account');
    const browser = relay().browser();
    const request = expectRedirect(await browser.open(origin + pathname + search));
    expect(request.searchParams.get('prompt')).to.equal('select_account');
    const usual = expectRedirect(await browser.open(origin + pathname));
    expect(usual.searchParams.has('prompt')).to.equal(false);
  });

  it('keeps the state of the front end in that link', async () => {
    await relay().guard({ frontEnd: `error-delivery: page, ${nobody}` });
    const browser = relay().browser();
    const callback = await browser.consent(relay().provider, '/auth/provider?state=its-own');
    const answer = await browser.open(callback);
    expect(`${answer.body}`).to.contain('?state=its-own&amp;prompt=select_account');
  });

  it('cannot be made into another page by a name', async () => {
    await relay().guard({ frontEnd: `error-delivery: page, ${nobody}` });
    const login = `<img src=x onerror=alert(1)>\u202Eadmin\u0000${'x'.repeat(500)}`;
    relay().answer({ 'GET /user': json({ login, id: 1 }) });
    const page = `${(await relay().logIn()).body}`;
    expect(page).to.contain('&lt;img src=x');
    expect(page).not.to.match(/<img|\u202E|\0|x{200}/);
  });

  it('does not show as an address what two programs would read in two ways', async () => {
    await relay().guard({ frontEnd: `error-delivery: page, ${nobody}` });
    relay().answer({ 'GET /user': json({ email: 'mallory@evil.test@example.com', name: 'Mallory', id: 1 }) });
    const page = `${(await relay().logIn()).body}`;
    expect(page).to.contain('<bdi>Mallory</bdi>').and.not.to.contain('example.com@').and.not.to.contain('evil.test');
  });

  it('is JSON for programs, without their name', async () => {
    await relay().guard({ frontEnd: nobody });
    const answer = await relay().logIn();
    expect(answer.status).to.equal(403);
    expect(JSON.parse(`${answer.body}`)).to.have.keys('detail');
    expect(`${answer.body}`).not.to.contain('ada');
  });

  for (const delivery of ['error-delivery: redirect', 'token-delivery: session']) {
    it(`is access_denied at the page, with its state: ${delivery}`, async () => {
      await relay().guard({ frontEnd: `${delivery}, ${nobody}` });
      const browser = relay().browser();
      const callback = await browser.consent(relay().provider, '/auth/provider?state=its-own');
      const { origin, searchParams } = expectRedirect(await browser.open(callback));
      expect(origin).to.equal(guardedOrigin);
      expect(searchParams.get('error')).to.equal('access_denied');
      expect(searchParams.get('state')).to.equal('its-own');
      // By chance, it may have these letters.
      searchParams.delete('request_id');
      expect(`${searchParams}`).not.to.contain('ada');
    });
  }

  it('is a message with access_denied in the popup of a CMS, which says who they are', async () => {
    await relay().guard({ frontEnd: `token-delivery: cms, scope: repo, ${nobody}` });
    const page = `${(await relay().logIn()).body}`;
    expect(page).to.contain('You are logged in as <b><bdi>ada</bdi></b>.');
    expect(page).to.contain('authorization:github:error:').and.to.contain('access_denied');
    expect(page).not.to.contain('success');
  });

  it('says that it could not be checked, and never who it is, during an outage', async () => {
    await relay().guard({ frontEnd: `error-delivery: page, allow: { organizations: [example] }` });
    relay().answer({ 'GET /user/memberships/orgs/example': json({}, 500) });
    const answer = await relay().logIn();
    expect(answer.status).to.equal(502);
    expect(`${answer.body}`)
      .to.match(/could not be checked/)
      .and.not.match(/\bada\b/);
    expect(relay().lines.some(({ access }) => access === 'unchecked')).to.equal(true);
  });

  it('ends the login, so that the callback cannot be opened again', async () => {
    await relay().guard({ frontEnd: nobody });
    const browser = relay().browser();
    const callback = await browser.consent(relay().provider);
    expect((await browser.open(callback)).status).to.equal(403);
    const again = await browser.open(callback, { headers: navigation });
    expect(again.status).to.equal(400);
    expect(relay().provider.credentials('token')).to.have.length(1);
  });
});
