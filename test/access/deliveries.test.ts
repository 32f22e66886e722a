import { expect } from 'chai';
import { logInTo, oauthStart, redemption, requestToken } from '../harness/login/oauth-front-end.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { eventually } from '../harness/system/eventually.ts';
import { givesAway, guardedOrigin, guardedRelay } from './support/guarded-relay.ts';

const everybodyElse = 'allow: { users: [somebody-else] }';

describe('a person who may not log in', () => {
  const relay = guardedRelay();

  const deliveries = {
    query: 'token-delivery: query',
    fragment: 'token-delivery: fragment',
    'a page': 'token-delivery: query, error-delivery: page',
    'a redirect': 'token-delivery: query, error-delivery: redirect',
    session: 'token-delivery: session',
    cms: 'token-delivery: cms, scope: repo',
  };
  for (const [name, frontEnd] of Object.entries(deliveries)) {
    for (const [place, guarded] of [
      ['provider', { frontEnd, provider: everybodyElse }],
      ['front end', { frontEnd: `${frontEnd}, ${everybodyElse}` }],
    ] as const) {
      it(`gets nothing by ${name}, refused by the ${place}`, async () => {
        await relay().guard(guarded);
        const answer = await relay().logIn();
        expect(givesAway(answer), `${answer.body}`).to.equal(false);
        await eventually(async () => {
          expect(relay().provider.credentials('revocation')).to.have.length(2);
          expect(relay().lines.find(({ outcome }) => outcome === 'access_refused')).to.include({
            access: 'refused',
            refusedBy: place === 'provider' ? 'providers.provider' : 'front-ends.app',
          });
        });
      });

      it(`gets in by ${name} if the rule of the ${place} names them`, async () => {
        const allowing = JSON.parse(JSON.stringify(guarded).replace('somebody-else', 'ADA'));
        await relay().guard(allowing);
        expect(givesAway(await relay().logIn())).to.equal(true);
        expect(relay().provider.credentials('revocation')).to.deep.equal([]);
      });
    }
  }

  for (const [name, frontEnd] of Object.entries(deliveries)) {
    it(`leaves no token behind by ${name} if the provider does not say who the person is`, async () => {
      await relay().guard({ frontEnd: `${frontEnd}, allow: { users: [ADA] }` });
      relay().answer({ 'GET /user': json({ message: 'away' }, 503) });
      const answer = await relay().logIn();
      expect(givesAway(answer), `${answer.body}`).to.equal(false);
      await eventually(async () => expect(relay().provider.credentials('revocation')).to.have.length(2));
    });
  }

  it('leaves no token behind that is too large for the cookie of a session', async () => {
    await relay().guard({ frontEnd: deliveries.session });
    const answer = relay().provider.onToken;
    relay().provider.onToken = json({ access_token: 'long'.repeat(3500), token_type: 'bearer' });
    expect(givesAway(await relay().logIn())).to.equal(false);
    relay().provider.onToken = answer;
    await eventually(async () => expect(relay().provider.credentials('revocation')).to.have.length(1));
  });

  it('is not let in by the same name at another provider of the front end', async () => {
    const settings = relay().provider.settings.join(', ');
    const other = `\n  other: { provider: github, client-id: a, client-secret: b, ${settings} }`;
    for (const [users, isIn] of [
      ['other:ada', false],
      ['other:ada, provider:1', true],
    ] as const) {
      const frontEnd = `token-delivery: query, allow: { users: ["${users.replace(', ', '", "')}"] }`;
      await relay().guard({ frontEnd, provider: other });
      expect(givesAway(await relay().logIn()), users).to.equal(isIn);
    }
  });

  for (const [more, person] of [
    ['', undefined],
    ['log-people: true', '1'],
  ] as const) {
    it(`is ${person === undefined ? 'not named in the log' : 'named in the log with log-people, by the id'}`, async () => {
      await relay().guard({ frontEnd: `token-delivery: query, ${everybodyElse}`, more });
      await relay().logIn();
      const refused = await eventually(async () => {
        const line = relay().lines.find(({ outcome }) => outcome === 'access_refused');
        expect(line).to.include({ refusedBy: 'front-ends.app' });
        return line;
      });
      expect(refused?.['person']).to.equal(person);
      // A random request id may also contain these letters.
      const linesWithoutIds = relay().lines.map((line) => ({ ...line, requestId: undefined }));
      expect(JSON.stringify(linesWithoutIds)).not.to.contain('ada');
    });
  }

  it('gets no token for a code, but access_denied', async () => {
    await relay().guard({ frontEnd: `token-delivery: code, ${everybodyElse}` });
    const start = { redirect_uri: `${guardedOrigin}/`, client_id: 'app' };
    const response = await logInTo(relay().browser(), relay(), oauthStart(start));
    const answer = await requestToken(relay(), redemption(response, start), [], {
      origin: guardedOrigin,
    });
    expect(answer.status).to.equal(400);
    expect(JSON.parse(`${answer.body}`)).to.include({ error: 'access_denied' });
    expect(givesAway(answer)).to.equal(false);
  });

  it('gets nothing by two callbacks at once, even while the answer of the provider is late', async () => {
    await relay().guard({ frontEnd: `token-delivery: query, ${everybodyElse}` });
    let release = () => {};
    const late = new Promise<void>((resolve) => {
      release = resolve;
    });
    const record = json({ login: 'ada', id: 1 });
    relay().answer({ 'GET /user': (response) => void late.then(() => record(response)) });
    const browser = relay().browser();
    const callback = await browser.consent(relay().provider);
    const answers = Promise.all([1, 2, 3].map(() => browser.open(callback)));
    while (relay().asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    release();
    for (const answer of await answers) {
      expect(givesAway(answer)).to.equal(false);
      expect(answer.status).to.equal(403);
    }
  });
});
