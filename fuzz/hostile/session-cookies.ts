import { pieceLength } from '../../src/http/split-cookies.ts';
import type { KeyRing } from '../../src/sealing/keys.ts';
import { createSessionSeal, type SessionContent } from '../../src/session/sessions.ts';
import { audienceOf, frontEnds, registrations, type SessionFrontEndName } from './front-ends.ts';
import { forbidden, granted, hidden } from './markers.ts';
import type { Random } from './random.ts';

const hour = 3600;
const seconds = () => Math.floor(Date.now() / 1000);

/** The content of a good session of today, but its tokens and identifier. */
export function sessionOf(
  frontEnd: SessionFrontEndName,
  providerOrigin: string,
): Omit<SessionContent, 'id' | 'accessToken'> {
  const now = seconds();
  return {
    registration: 'house',
    audience: audienceOf('house', providerOrigin),
    frontEnd,
    loggedInAt: now - hour,
    endsAt: now + 2 * hour,
    idleEndsAt: now + hour,
  };
}

const prefix = '__Host-Http-lr_session_';

/**
 * Makes cookies of sessions like the relay, as a `Cookie` header has them.
 *
 * @param keys the relay's keys for sessions
 * @param providerOrigin the origin of the provider of `house`
 */
export function createSessionCookies(keys: KeyRing, providerOrigin: string) {
  const seal = createSessionSeal(keys);
  let count = 0;

  function contentOf(frontEnd: SessionFrontEndName, marker?: string): SessionContent {
    count += 1;
    return {
      ...sessionOf(frontEnd, providerOrigin),
      id: `session-${count}`,
      accessToken: `${marker ?? granted}session-${count}`,
      // Only a few, so that many tabs refresh the same session.
      refreshToken: `${marker ?? hidden}refresh-${count % 500}`,
      accessTokenEndsAt: seconds() + hour,
    };
  }

  function cookieOf(
    frontEnd: SessionFrontEndName,
    content: SessionContent,
    origin: string = frontEnds[frontEnd].origin,
  ): string {
    const text = seal.seal(content, `${frontEnd} ${origin}`);
    const count = Math.ceil(text.length / pieceLength);
    return Array.from({ length: count }, (_, index) => {
      const piece = text.slice(index * pieceLength, (index + 1) * pieceLength);
      return `${prefix}${frontEnd}${index === 0 ? '' : `.${index}`}=${piece}`;
    }).join('; ');
  }

  function goodContent(random: Random, frontEnd: SessionFrontEndName): SessionContent {
    const content = contentOf(frontEnd);
    return random.pick<() => SessionContent>([
      () => content,
      () => content,
      () => ({ ...content, refreshToken: undefined }),
      () => ({ ...content, accessTokenEndsAt: undefined }),
      () => ({ ...content, accessToken: content.accessToken + 'x'.repeat(random.below(7000)) }),
    ])();
  }

  function hopelessContent(random: Random, frontEnd: SessionFrontEndName): SessionContent {
    const content = contentOf(frontEnd, forbidden);
    const now = seconds();
    return random.pick<() => SessionContent>([
      () => ({ ...content, frontEnd: 'app' }),
      () => ({ ...content, frontEnd: frontEnd === 'wiki' ? 'desk' : 'wiki' }),
      () => ({ ...content, registration: 'provider' }),
      () => ({ ...content, audience: audienceOf('house', providerOrigin, registrations.provider) }),
      () => ({ ...content, endsAt: now - 1 }),
      () => ({ ...content, idleEndsAt: now - 1 }),
      () => ({ ...content, loggedInAt: now - 8 * 24 * hour }),
    ])();
  }

  return (random: Random) => {
    const frontEnd = random.pick<SessionFrontEndName>(['wiki', 'wiki', 'desk']);
    const foreign = contentOf(frontEnd, forbidden);
    return {
      frontEnd,
      good: cookieOf(frontEnd, goodContent(random, frontEnd)),
      /** A good session that no provider may see: for requests that do not come from the front end's page. */
      foreign: cookieOf(frontEnd, foreign),
      /** A session that the relay must not open. */
      hopeless: random.oneIn(8)
        ? cookieOf(frontEnd, foreign, 'https://former.relay.example')
        : cookieOf(frontEnd, hopelessContent(random, frontEnd)),
    };
  };
}
