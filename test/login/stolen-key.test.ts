import { expect } from 'chai';
import { createClientIds } from '../../src/clients/client-ids.ts';
import { createRefreshTokens } from '../../src/grants/refresh-tokens.ts';
import { kinds } from '../../src/memory/kinds.ts';
import { createMarks } from '../../src/memory/marks.ts';
import { createAccessTokens } from '../../src/resources/access-tokens.ts';
import { deriveKeysFromFile } from '../../src/sealing/keys.ts';
import { Secret } from '../../src/sealing/secret.ts';
import { createSessionSeal, createSessions, type SessionContent } from '../../src/session/sessions.ts';
import { koaContext } from '../harness/login/koa-context.ts';
import { keyLine } from '../harness/system/secret-file.ts';

const keys = deriveKeysFromFile([new Secret(keyLine)]);
const day = 86_400;
const time = 1_800_000_000;
const now = () => time * 1000;
const never = Date.UTC(2096, 0) / 1000;

/** The times of a text that a thief of the key file seals: when it was issued, and when it ends. */
interface Times {
  readonly from: number;
  readonly until: number;
}

const owner = ['registration', 'front end'] as const;
const refreshTokens = createRefreshTokens(keys.refreshToken, now);
const accessTokens = createAccessTokens(keys.accessToken, now);
const resource = { audience: ['registration', 'https://api.example/'] };
const clients = createClientIds(keys.client, 'tools', 'issuer', now);
const sessions = createSessions(
  {
    secure: true,
    lifetime: 400 * day,
    idle: 400 * day,
    frontEnds: new Map([['app', { audience: 'app', registrations: new Set(['github']) }]]),
  },
  keys.session,
  createMarks({ now }, kinds.logouts),
  now,
);

/**
 * Whether each kind of sealed text with these times is accepted at its relay. A text with the longest time that a relay
 * itself uses is accepted.
 */
const kindsOfTexts: Readonly<Record<string, readonly [longest: number, opens: (times: Times) => boolean]>> = {
  'an access token of a resource': [
    day,
    ({ from, until }) => {
      const held = { frontEnd: 'app', audience: 'app', login: 'a', sub: '1', iat: from, exp: until };
      return accessTokens.open(accessTokens.issue(held, resource), resource) !== undefined;
    },
  ],
  'a refresh token': [
    3650 * day,
    ({ from, until }) => {
      const held = { login: 'a', loggedInAt: from, endsAt: until, providerToken: { refreshToken: 'a' } };
      return refreshTokens.open(refreshTokens.issue(held, owner) ?? '', owner) !== undefined;
    },
  ],
  'a session': [
    400 * day,
    ({ from, until }) => {
      const held: SessionContent = {
        id: 'a',
        registration: 'github',
        audience: 'a',
        frontEnd: 'app',
        accessToken: 'a',
        loggedInAt: from,
        endsAt: until,
        idleEndsAt: until,
      };
      const cookie = `__Host-Http-lr_session_app=${createSessionSeal(keys.session).seal(held, 'app')}`;
      return sessions.open(koaContext({ cookie }), 'app') !== undefined;
    },
  ],
  'an identifier of a client': [
    400 * day,
    ({ until }) => {
      const id = clients.issue({ redirectUris: [], name: undefined }, (until - time) / day);
      return clients.openClient(id, true) !== undefined;
    },
  ],
};

describe('a text that a thief has sealed with a stolen key', () => {
  for (const [kind, [longest, opens]] of Object.entries(kindsOfTexts)) {
    it(`is not good for longer than the relay's own: ${kind}`, () => {
      expect(opens({ from: time, until: time + longest }), 'the longest').to.equal(true);
      expect(opens({ from: time + 60, until: time + 60 + longest }), 'of a clock that is ahead').to.equal(true);
      expect(opens({ from: time, until: time + longest + day }), 'a day longer').to.equal(false);
      expect(opens({ from: time, until: never }), 'until 2096').to.equal(false);
      expect(opens({ from: never - longest, until: never }), 'from the future').to.equal(false);
      expect(opens({ from: never, until: never + longest }), 'from the future').to.equal(false);
    });
  }
});
