import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { differences, frozenLists, presentLists } from '../../scripts/promised.ts';
import { createClientIds } from '../../src/clients/client-ids.ts';
import { createCodes } from '../../src/grants/codes.ts';
import { createRefreshTokens } from '../../src/grants/refresh-tokens.ts';
import { createStates } from '../../src/login/state.ts';
import { createAccessTokens } from '../../src/resources/access-tokens.ts';
import { deriveKeysFromFile } from '../../src/sealing/keys.ts';
import { Secret } from '../../src/sealing/secret.ts';
import { createSessionSeal } from '../../src/session/sessions.ts';
import { version } from '../../src/version.ts';

const time = 2_000_000_000;
const now = () => time * 1000;
const keys = deriveKeysFromFile([new Secret('the key of the sealed texts in this folder')]);
const owner = ['registration', 'front end'] as const;
const [registration, frontEnd] = owner;
const states = createStates(keys.state, () => registration, 'https://relay.example');
const codes = createCodes(keys.code, () => registration, now);
const refreshTokens = createRefreshTokens(keys.refreshToken, now);
const accessTokens = createAccessTokens(keys.accessToken, now);
const sessions = createSessionSeal(keys.session);
const clients = createClientIds(keys.client, 'tools', 'audience', now);
const resource = { audience: [registration, 'https://api.example/'] as const };

type Texts = Readonly<Record<string, string>>;

/** A text of each kind that outlives the process that made it, as this version seals it. */
const seal = (): Texts => ({
  state: states.seal({
    id: Buffer.alloc(32),
    issuedAt: time,
    frontEnd: 'app',
    request: { state: 'own' },
  }).state,
  code: codes.issue(
    {
      redirectUri: 'https://app.example/',
      codeChallenge: 'challenge',
      providerCode: 'code',
      nonce: 'nonce',
      extraFields: { realmId: '1' },
    },
    frontEnd,
  ),
  refreshToken: `${refreshTokens.issue(
    {
      login: 'login',
      thumbprint: 'key',
      scope: 'read',
      loggedInAt: time,
      endsAt: time + 1,
      ownResource: 'https://api.example/',
      address: '192.0.2.1',
      subjectId: 'subject',
      extraFields: { realmId: '1' },
      generation: { number: 1, since: time },
      providerToken: { refreshToken: 'refresh', accessToken: 'access', endsAt: time },
    },
    owner,
  )}`,
  accessToken: accessTokens.issue(
    {
      frontEnd: 'app',
      audience: 'audience',
      login: 'login',
      iat: time,
      exp: time + 1,
      sub: '1',
      preferred_username: 'ada',
      email: 'ada@example.com',
      groups: ['staff'],
    },
    resource,
  ),
  session: sessions.seal(
    {
      id: 'id',
      registration: 'registration',
      audience: 'audience',
      frontEnd: 'app',
      accessToken: 'access',
      refreshToken: 'refresh',
      subjectId: 'subject',
      extraFields: { realmId: '1' },
      loggedInAt: time,
      endsAt: time + 1,
      idleEndsAt: time + 1,
    },
    'audience',
  ),
  client: clients.issue({ redirectUris: ['http://127.0.0.1/callback'], name: 'Tools' }, 90),
});

const open: Readonly<Record<string, (text: string) => unknown>> = {
  state: (text) => states.open(text)?.request,
  code: (text) => codes.openExpired(text, frontEnd)?.login,
  refreshToken: (text) => refreshTokens.open(text, owner),
  accessToken: (text) => accessTokens.open(text, resource),
  session: (text) => sessions.open(text, 'audience'),
  client: (text) => clients.openClient(text, false),
};

describe('what docs/compatibility.md promises', () => {
  it('is what the code has (CONTRIBUTING.md says what to do otherwise)', () => {
    const { gone, added } = differences(frozenLists(), presentLists());
    expect(gone, 'Promised, and gone: only a major version may do that').to.deep.equal([]);
    expect(added, 'New promises: run scripts/node scripts/promised.ts').to.deep.equal([]);
  });

  it('includes sealed texts of this minor version and the previous minor version', () => {
    const file = new URL('sealed-texts.json', import.meta.url);
    const kept: Readonly<Record<string, Texts>> = JSON.parse(readFileSync(file, 'utf8'));
    const minor = version.split('.').slice(0, 2).join('.');
    const hint = `Add to sealed-texts.json, and remove all but one earlier version: ${JSON.stringify(seal())}`;
    expect(Object.keys(kept[minor] ?? {}), hint).to.have.members(Object.keys(open));
    for (const [from, texts] of Object.entries(kept)) {
      for (const [kind, text] of Object.entries(texts)) {
        expect(open[kind]?.(text), `${kind} of ${from}`).not.to.equal(undefined);
      }
    }
  });
});
