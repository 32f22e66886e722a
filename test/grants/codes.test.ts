import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { type CodeContent, type Codes, createCodes, createRedeemedCodes } from '../../src/grants/codes.ts';
import { createRefreshTokens } from '../../src/grants/refresh-tokens.ts';
import { keyOf } from '../../src/memory/recent.ts';
import type { KeyRing } from '../../src/sealing/keys.ts';
import { codeOf } from '../harness/expect/failure-code.ts';

const keys: KeyRing = [randomBytes(32)];
const registration = () => 'provider https://id.example - client-1';
const frontEnd = 'app https://app.example';
const content: CodeContent = {
  redirectUri: 'https://app.example/signed-in?kept=1',
  codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  providerCode: 'the provider’s code',
  codeVerifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
};

describe('a code of the relay', () => {
  let time: number;
  let codes: Codes;
  const now = () => time;
  const create = (at = registration()) => createCodes(keys, () => at, now);
  beforeEach(() => {
    time = 1_800_000_000_000;
    codes = create();
  });

  it('is opened only for its registration and its front end', () => {
    const code = codes.issue(content, frontEnd);
    expect(codes.open(code, 'app https://former.example')).to.equal(undefined);
    for (const other of ['provider https://evil.example - client-1', '', `${registration()} app`]) {
      expect(create(other).open(code, frontEnd)).to.equal(undefined);
    }
  });

  it('needs no verifier at a provider without PKCE', () => {
    const { codeVerifier, ...least } = content;
    expect(codes.open(codes.issue(least, frontEnd), frontEnd)).to.deep.equal(least);
    const unknown = { ...least, codeVerifier: undefined };
    expect(codes.open(codes.issue(unknown, frontEnd), frontEnd)).to.deep.equal(least);
  });

  it('is valid for 60 seconds', () => {
    const code = codes.issue(content, frontEnd);
    time += 60_000;
    expect(codes.open(code, frontEnd)).to.deep.equal(content);
    time += 1_000;
    expect(codes.open(code, frontEnd)).to.equal(undefined);
  });

  it('is valid if the clock of another replica is up to a minute ahead', () => {
    const code = codes.issue(content, frontEnd);
    time -= 60_000;
    expect(codes.open(code, frontEnd)).to.deep.equal(content);
    time -= 1_000;
    expect(codes.open(code, frontEnd)).to.equal(undefined);
  });

  it('holds the longest code that a provider may send', () => {
    const longest = { ...content, providerCode: '~'.repeat(4096) };
    expect(codes.open(codes.issue(longest, frontEnd), frontEnd)).to.deep.equal(longest);
  });

  it('is not accepted as a refresh token, nor a refresh token as a code', () => {
    const seconds = time / 1000;
    const ends = { loggedInAt: seconds, endsAt: seconds + 60 };
    const token = { login: 'login', ...ends, providerToken: { refreshToken: 'token' } };
    // This must hold even if both have the same keys by mistake.
    for (const others of [keys, [randomBytes(32)] satisfies KeyRing]) {
      const refreshTokens = createRefreshTokens(others, () => time);
      const owner = [registration(), frontEnd] as const;
      expect(refreshTokens.open(codes.issue(content, frontEnd), owner)).to.equal(undefined);
      expect(codes.open(refreshTokens.issue(token, owner) ?? '', frontEnd)).to.equal(undefined);
    }
  });
});

describe('the redemption of a code', () => {
  let time: number;
  let codes: ReturnType<typeof createRedeemedCodes>;
  let exchanged: number;
  beforeEach(() => {
    time = 1_800_000_000_000;
    codes = createRedeemedCodes({ now: () => time });
    exchanged = 0;
  });

  /** @param isSent whether the code reached the provider */
  function redeem(
    providerCode: string,
    result: Promise<string> = Promise.resolve('token'),
    { isSent = true, registration = 'provider' } = {},
  ): Promise<string> {
    return codes
      .run(keyOf(registration, providerCode), (sent) => {
        exchanged += 1;
        if (isSent) sent();
        return result;
      })
      .catch(codeOf);
  }

  function failure(): Promise<never> {
    return Promise.reject(new RelayError('provider_unreachable'));
  }

  it('is refused while the first one is in flight, and does not affect it', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const first = redeem('a', promise, { isSent: false });
    expect(await redeem('a')).to.equal('code_redeemed');
    resolve('token');
    expect(await first).to.equal('token');
    expect(exchanged).to.equal(1);
  });

  it('is over even if the exchange does not say that the code was sent', async () => {
    expect(await redeem('a', undefined, { isSent: false })).to.equal('token');
    expect(await redeem('a')).to.equal('code_redeemed');
  });

  it('is refused after a failure that may have spent the code', async () => {
    expect(await redeem('a', failure())).to.equal('provider_unreachable');
    expect(await redeem('a')).to.equal('code_redeemed');
    expect(exchanged).to.equal(1);
  });

  it('can be retried if the code never reached the provider', async () => {
    expect(await redeem('a', failure(), { isSent: false })).to.equal('provider_unreachable');
    expect(await redeem('a')).to.equal('token');
    expect(await redeem('a')).to.equal('code_redeemed');
  });

  it('can be retried after an error that is thrown at once', async () => {
    const broken = codes.run(keyOf('provider', 'a'), () => {
      throw new RelayError('overloaded');
    });
    expect(await broken.catch((error: RelayError) => error.code)).to.equal('overloaded');
    expect(await redeem('a')).to.equal('token');
  });

  it('is separate for each code and each registration', async () => {
    expect(await redeem('a')).to.equal('token');
    expect(await redeem('b')).to.equal('token');
    expect(await redeem('a', undefined, { registration: 'another' })).to.equal('token');
  });

  it('is remembered for longer than the code is valid at any replica', async () => {
    await redeem('a');
    time += 120_999;
    expect(await redeem('a')).to.equal('code_redeemed');
    time += 10_000;
    expect(await redeem('a')).to.equal('token');
  });
});
