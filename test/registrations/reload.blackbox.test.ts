import { expect } from 'chai';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { expectFailurePage } from '../harness/expect/failure-page.ts';
import { encoded, expectOAuthError, requestToken } from '../harness/login/oauth-front-end.ts';
import type { LogLine } from '../harness/relay/relay-process.ts';
import { keyFile } from '../harness/relay/relay-under-test.ts';
import { configOf, origins, reloadWith, shopStart, team } from './support/team.ts';

const docs = '  docs: { origin: https://docs.example }';

describe('a relay that reads its configuration file again', () => {
  const underTest = team();

  it('serves a front end that was added', async () => {
    expectError(await underTest().get('/auth/github/docs'), 404);
    const text = await configOf(underTest().providers, '', docs);
    const { changed } = await reloadWith(underTest(), text);
    expect(changed).to.include(underTest().configFile);
    const page = expectRedirect(await underTest().logInAt('github', '/auth/github/docs'));
    expect(page.origin).to.equal('https://docs.example');
  });

  it('keeps its configuration if the file has a fault, and says where', async () => {
    const text = await configOf(underTest().providers, 'prot: 1');
    const { faults } = await reloadWith(underTest(), text);
    const fault = 'prot is unknown: did you mean port?';
    expect(faults).to.deep.equal([`${underTest().configFile}:3:1 ${fault}`]);
    expect((await underTest().get('/auth/github/docs')).status).to.equal(307);
  });

  it('refuses the login of a front end that was removed', async () => {
    const browser = underTest().browser('github');
    const request = expectRedirect(await browser.open('/auth/github/docs'));
    await reloadWith(underTest(), await configOf(underTest().providers));
    const answer = await browser.open(underTest().callbackOf('github', request), { headers: [] });
    expectError(answer, 400);
    expect(underTest().calls).to.deep.equal([]);
    expectError(await underTest().get('/auth/github/docs'), 404);
  });

  it('shows that to the person, and not to another front end', async () => {
    const withDocs = (await configOf(underTest().providers, '', docs)).replace(
      `{ origin: ${origins.app} }`,
      `{ origin: ${origins.app}, error-delivery: redirect }`,
    );
    await reloadWith(underTest(), withDocs);
    const browser = underTest().browser('github');
    const request = expectRedirect(await browser.open('/auth/github/docs'));
    await reloadWith(underTest(), withDocs.replace(docs, ''));
    const answer = await browser.open(underTest().callbackOf('github', request));
    expect(expectFailurePage(answer, 400).links).to.deep.equal({});
    // Without a state, the callback belongs to the first front end.
    const stateless = await browser.open('/auth/github/callback?error=access_denied');
    expect(expectRedirect(stateless).origin).to.equal(origins.app);
  });

  it('redeems no code for a page that was removed', async () => {
    const request = await underTest().shopRedemption('github');
    const text = await configOf(underTest().providers);
    await reloadWith(underTest(), text.replace(`[${origins.shop}/in]`, `[${origins.shop}/other]`));
    const sending = { origin: origins.shop, path: '/auth/github/token' };
    const redeem = () => requestToken(underTest(), request, [], sending);
    expectOAuthError(await redeem(), 'invalid_grant');
    expect(underTest().calls).to.deep.equal([]);
    // The code is unspent, because only the front end was missing.
    await reloadWith(underTest(), text);
    expect((await redeem()).status).to.equal(200);
  });

  it('warns of a changed setting that needs a restart', async () => {
    const text = await configOf(underTest().providers, 'max-connections: 100');
    await reloadWith(underTest(), text);
    const isWarning = ({ msg }: LogLine) => /restart the relay to use it$/.test(String(msg));
    const [warning, ...others] = underTest().process.logLines.filter(isWarning);
    expect(warning?.['msg']).to.match(/^--max-connections /);
    expect(others).to.deep.equal([]);
  });

  it('says which logins it has ended, and whose ids have another form', async () => {
    const key = await keyFile();
    const withWiki = async (provider: string) => {
      const wiki = `{ url: https://wiki.example/, provider: ${provider}, browser: true }`;
      const more = `key-file: ${key}\ntrusted-proxies: 127.0.0.1\nresources:\n  wiki: ${wiki}`;
      return await configOf(underTest().providers, more);
    };
    await reloadWith(underTest(), await withWiki('github'));
    await reloadWith(underTest(), await withWiki('[github, staff]'));
    await reloadWith(underTest(), await withWiki('[staff, github]'));
    const ofWiki = underTest().process.logLines.filter(({ msg }) => String(msg).startsWith('resources.wiki: '));
    expect(ofWiki.map(({ level, msg }) => [level, msg])).to.deep.equal([
      [
        'warn',
        'resources.wiki: ids of people now begin with the name of the provider, as in github:583231, and all logins of this resource have ended',
      ],
    ]);
  });
});

describe('a registration that a reload removes', () => {
  const underTest = team();

  /** Reads the file again, after a change to the lines of `staff`. */
  async function reloadAfter(change: (staff: string) => string, more = ''): Promise<void> {
    const text = await configOf(underTest().providers, more);
    const line = await reloadWith(
      underTest(),
      text.replace(/^ {2}staff:\n( {4}.*\n)+/m, (staff) => change(staff)),
    );
    expect(line['msg']).to.match(/^reloaded/);
  }
  const removeStaff = () => reloadAfter(() => '');
  beforeEach('configure it', async () => await reloadAfter((staff) => staff));

  it('ends its logins in flight, tells people to start again, and issues no token', async () => {
    const browser = underTest().browser('staff');
    const request = expectRedirect(await browser.open('/auth/staff'));
    await removeStaff();
    const answer = await browser.open(underTest().callbackOf('staff', request));
    const { detail, links } = expectFailurePage(answer, 400);
    expect(detail).to.contain('Start the login again.');
    // The relay does not know where the login began, so a link would lead to another front end and provider.
    expect(links).to.deep.equal({});
    expect(underTest().calls).to.deep.equal([]);
  });

  it('also ends its logins in flight at a configured callback path, and says what happened', async () => {
    const path = '/oauth2/callback';
    await reloadAfter((staff) => `${staff}    callback-path: ${path}\n`);
    const browser = underTest().browser('staff');
    const { search } = expectRedirect(await browser.open('/auth/staff'));
    const state = new URLSearchParams(search).get('state') ?? '';
    await removeStaff();
    const answer = await browser.open(`${path}?${encoded({ code: 'a-code', state })}`);
    expect(expectFailurePage(answer, 400).detail).to.contain('no longer configured');
    expectError(await underTest().get('/oauth2/other'), 404);
    expect(underTest().calls).to.deep.equal([]);
  });

  it('starts no login, and answers no other request', async () => {
    await removeStaff();
    for (const path of [
      '/auth/staff',
      '/auth/staff/shop',
      `/auth/staff?${encoded(shopStart().parameters)}`,
      '/.well-known/oauth-authorization-server/auth/staff',
      '/auth/staff/revoke',
      '/auth/staff/token',
    ]) {
      expectError(await underTest().get(path), 404);
    }
    const headers: [string, string][] = [['Authorization', 'Bearer token']];
    const lookup = await underTest().send({ path: '/api/user?provider=staff', headers });
    expectError(lookup, 400);
    expect(underTest().calls).to.deep.equal([]);
  });
});
