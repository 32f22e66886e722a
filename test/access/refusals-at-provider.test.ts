import { expect } from 'chai';
import { jsonOf, loopback } from '../clients/support/clients-relay.ts';
import { expectError } from '../harness/expect/expectations.ts';
import { json, type Reply } from '../harness/provider/provider-behaviours.ts';
import { eventually } from '../harness/system/eventually.ts';
import { logIn as logInFor, notes, resourcesRelay, tokensOf } from '../resources/support/resources-relay.ts';
import { asksProvider } from './support/asking.ts';
import { guardedRelay } from './support/guarded-relay.ts';

const url = 'https://github.com/orgs/evil/sso?authorization_request=AAAA<script>';
const message = (text: string, headers = {}) => json({ message: text, documentation_url: url }, 403, headers);
const sso = (headers = {}) => message('Resource protected by organization SAML enforcement.', headers);
const restrictions =
  'Although you appear to have the correct authorization credentials, the `example` organization has enabled OAuth App access restrictions.';
const allowList =
  'Although you appear to have the correct authorization credentials, the `example` organization has an IP allow list enabled, and your IP address is not permitted.';

const membership = 'GET /user/memberships/orgs/example';
const team = 'GET /orgs/example/teams/staff/memberships/ada';
const github = { 'GET /user': json({ login: 'ada', id: 1 }) };

describe('a provider that refuses until somebody does something there', () => {
  const asking = asksProvider();

  for (const [what, reply, expected] of [
    ['single sign-on', sso({ 'X-GitHub-SSO': `required; url=${url}` }), 'sso_required'],
    ['single sign-on, without a body', json({}, 403, { 'X-GitHub-SSO': `required; url=${url}` }), 'sso_required'],
    ['single sign-on, without the header', sso(), 'sso_required'],
    ['an application that no owner has approved', message(restrictions), 'application_unapproved'],
    ['the address of the server', message(allowList), 'address_refused'],
  ] as [string, Reply, string][]) {
    it(`is distinguished from a provider that does not answer, with ${what}`, async () => {
      for (const [allow, page] of [
        [{ organizations: ['example'] }, membership],
        [{ teams: ['example/staff'] }, team],
        [{ emails: ['ada@example.com'] }, 'GET /user/emails'],
        [{ users: ['ada'] }, 'GET /user'],
      ] as const) {
        asking().advance(61_000);
        asking().pages = { ...github, [page]: reply };
        expect(await asking().ask('github', allow)).to.equal(`${expected} 403`);
      }
      asking().advance(61_000);
      asking().pages = { ...github, 'GET /user/teams': reply };
      expect(await asking().identify('github', { claims: ['groups'] })).to.equal(`${expected} 403`);
    });
  }

  for (const [what, reply, expected] of [
    ['a rate limit', message('API rate limit exceeded', { 'x-ratelimit-remaining': '0' }), 'access_unchecked 502'],
    ['a text of another status', json({ message: allowList }, 500), 'access_unchecked 502'],
    ['a text in another field', json({ error: allowList }, 403), 'access_unchecked 502'],
    ['no text', json({ message: ['IP allow list enabled'] }, 403), 'access_unchecked 502'],
    ['partial results', json([], 200, { 'X-GitHub-SSO': 'partial-results; organizations=1,2' }), 'refused'],
  ] as [string, Reply, string][]) {
    it(`is not seen in ${what}`, async () => {
      asking().pages = { ...github, 'GET /user/emails': reply };
      expect(await asking().ask('github', { emails: ['ada@example.com'] })).to.equal(expected);
    });
  }

  it('is reported even if another organization gets no answer, and not if another organization lets the person in', async () => {
    const reply = sso({ 'X-GitHub-SSO': `required; url=${url}` });
    const organizations = ['other', 'example'];
    const other = 'GET /user/memberships/orgs/other';
    asking().pages = { ...github, [membership]: reply, [other]: json({}, 500) };
    expect(await asking().ask('github', { organizations })).to.equal('sso_required 403');
    asking().advance(61_000);
    asking().pages = { ...github, [membership]: reply, [other]: json({ state: 'active' }) };
    expect(await asking().ask('github', { organizations })).to.equal('allowed');
  });

  it('is Microsoft Graph, if no administrator has consented', async () => {
    const error = { code: 'Authorization_RequestDenied', message: 'Insufficient privileges.' };
    asking().pages = {
      'GET /oidc/userinfo': json({ sub: 'x' }),
      'GET /v1.0/me/transitiveMemberOf': json({ error }, 403),
    };
    expect(await asking().ask('entra', { groups: ['g'] })).to.equal('application_unapproved 403');
  });

  for (const [preset, path, text] of [
    [
      'gitlab',
      '/api/v4/user',
      '403 Forbidden - You (@ada) must accept the Terms of Service in order to perform this action.',
    ],
    ['gitlab', '/api/v4/user', '403 Forbidden - Your account has been blocked.'],
    ['gitea', '/api/v1/user', 'This account is not activated.'],
    ['forgejo', '/api/v1/user', 'You must change your password. Change it at: https://evil.example/'],
    ['codeberg', '/api/v1/user', 'This account is prohibited from signing in, please contact your site administrator.'],
  ] as const) {
    it(`is ${preset} with "${text}"`, async () => {
      asking().pages = { [`GET ${path}`]: message(text) };
      expect(await asking().ask(preset, { users: ['ada'] })).to.equal('account_restricted 403');
    });
  }
});

describe('somebody whose organization requires single sign-on', () => {
  const relay = guardedRelay();
  const frontEnd = 'allow: { organizations: [example] }';
  const refusal = { [membership]: sso({ 'X-GitHub-SSO': `required; url=${url}` }) };

  it('is told so, and the login keeps nothing', async () => {
    await relay().guard({ frontEnd });
    relay().answer(refusal);
    const answer = await relay().logIn();
    expectError(answer, 403);
    expect(`${answer.body}`)
      .to.contain('single sign-on')
      .and.not.to.match(/evil|AAAA|moment/);
    await eventually(async () => expect(relay().provider.credentials('revocation')).to.have.length(2));
    const line = relay().lines.findLast(({ outcome }) => outcome === 'sso_required');
    expect(line).to.include({ access: 'unchecked' });
    expect(JSON.stringify(relay().lines)).not.to.match(/evil|AAAA/);
  });

  it('reads it on a page, or gets access_denied at the page that started the login', async () => {
    await relay().guard({ frontEnd: `error-delivery: page, ${frontEnd}` });
    relay().answer(refusal);
    const page = `${(await relay().logIn()).body}`;
    expect(page)
      .to.contain('requires single sign-on')
      .and.not.to.match(/evil|AAAA/);
    await relay().guard({ frontEnd: `error-delivery: redirect, ${frontEnd}` });
    relay().answer(refusal);
    const location = new URL(`${(await relay().logIn()).headers.location}`);
    expect(location.searchParams.get('error')).to.equal('sso_required');
  });

  it('keeps the session at a refresh, which works again after the single sign-on', async () => {
    await relay().guard({ frontEnd: `token-delivery: session, ${frontEnd}` });
    relay().answer({ [membership]: json({ state: 'active' }) });
    const page = relay().sessionPage();
    await page.logIn();
    relay().advance(120_000);
    relay().answer(refusal);
    const refused = await page.refresh();
    expect(refused.status).to.equal(403);
    expect(jsonOf(refused)).to.include({ error: 'sso_required' });
    relay().answer({ [membership]: json({ state: 'active' }) });
    expect((await page.refresh()).status).to.equal(200);
  });
});

describe('a login for a resource whose provider requires single sign-on', () => {
  const relay = resourcesRelay({
    provider: 'provider: github\n    scope: read:org',
    relay: `resources:\n  notes: { url: ${notes}, allow: { organizations: [example] } }\n`,
    frontEnds: `  tools: { kind: native, refresh-tokens: bearer, redirect-uris: ['${loopback}'], resources: [notes] }\n`,
  });
  const ofTools = { client_id: 'tools', redirect_uri: loopback, resource: notes };
  const isMember = (reply: Reply) => {
    relay().provider.pages = { ...github, [membership]: reply };
  };
  afterEach(() => {
    relay().provider.pages = {};
  });

  it('is access_denied with 400 at the token endpoint, and a refresh ends nothing', async () => {
    const reply = sso({ 'X-GitHub-SSO': `required; url=${url}` });
    isMember(reply);
    const denied = await logInFor(relay(), ofTools);
    expect(denied.status).to.equal(400);
    expect(jsonOf(denied)).to.include({ error: 'access_denied' });
    expect(`${jsonOf(denied)['error_description']}`).to.contain('single sign-on');
    isMember(json({ state: 'active' }));
    const { refresh_token } = tokensOf(await logInFor(relay(), ofTools));
    relay().ahead = 120_000;
    isMember(reply);
    const refused = await relay().refresh('tools', refresh_token);
    expect(refused.status).to.equal(400);
    expect(jsonOf(refused)).to.include({ error: 'access_denied' });
    isMember(json({ state: 'active' }));
    expect((await relay().refresh('tools', refresh_token)).status).to.equal(200);
  });
});
