import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import * as v from 'valibot';
import { RelayError } from '../../src/failures/relay-error.ts';
import { createStates, type FrontEndRequest, type LoginState } from '../../src/login/state.ts';
import { createSeal } from '../../src/sealing/seal.ts';

const key = randomBytes(32);
const registration = () => 'provider https://id.example - client-1';
const redirectUri = 'https://relay.example/auth/provider/callback';
const states = createStates([key], registration, redirectUri);

function newLogin(issuedAt: number, request: FrontEndRequest = {}): LoginState {
  return { id: randomBytes(16), issuedAt, frontEnd: 'app', request };
}

/** Seals a login, and opens it with its cookies. */
function reopened(login: LoginState) {
  const { state, kept } = states.seal(login);
  return states.open(state, () => kept);
}

describe('the state parameter', () => {
  it('contains the whole login', () => {
    const oauth = { redirectUri: 'https://app.example/', codeChallenge: 'c'.repeat(43) };
    const login = newLogin(1_800_000_000, { state: 'own ✓', oauth });
    const { state, kept } = states.seal(login);
    expect(states.open(state)).to.deep.include(login);
    expect(kept).to.equal(undefined);
  });

  it('leaves out what the login was not started with', () => {
    const login = newLogin(1_800_000_000, { state: undefined, oauth: undefined });
    expect(reopened(login)).to.deep.include({ ...login, request: {} });
  });

  it('contains an OAuth request of a library', () => {
    const oauth = { redirectUri: 'https://app.example/cb', codeChallenge: 'c'.repeat(43) };
    expect(states.seal(newLogin(1_800_000_000, { state: 'x'.repeat(43), oauth }))).not.to.have.property('kept');
  });

  const challenge = 'c'.repeat(43);
  const text = (length: number) => randomBytes(length).toString('base64url').slice(0, length);
  const longUri = `https://app.example/${text(492)}`;
  const requests: Readonly<Record<string, FrontEndRequest>> = {
    ...Object.fromEntries([0, 43, 512, 521, 2048].map((length) => [`a state of ${length}`, { state: text(length) }])),
    'a state of 2,048 in an OAuth request': {
      state: text(2048),
      oauth: { redirectUri: longUri, codeChallenge: challenge, ownResource: 'https://mcp.example/mcp' },
    },
    'a page of 512': { returnTo: `https://app.example/${text(492)}` },
    'the longest state and page': { state: text(2048), returnTo: `https://app.example/${text(2028)}` },
    'characters beyond ASCII': { state: '🔑'.repeat(512), returnTo: `https://app.example/${text(2028)}` },
    'texts that take most in JSON': {
      state: '\0'.repeat(2048),
      returnTo: `https://app.example/?${'\\'.repeat(2027)}`,
    },
    'a state of quotes and backslashes': { state: text(1024).replaceAll(/./g, (one) => (one < 'a' ? '"' : '\\')) },
    'the resource of a program': {
      state: text(2048),
      oauth: { redirectUri: longUri, codeChallenge: challenge, providerResource: `https://api.example/${text(900)}` },
    },
  };
  for (const [what, request] of Object.entries(requests)) {
    it(`is shorter than 400 characters, and comes back with ${what}`, () => {
      const login = { ...newLogin(1_800_000_000, request), frontEnd: 'a'.repeat(64) };
      expect(states.seal(login).state.length).to.be.below(400);
      expect(reopened(login)).to.deep.include(login);
    });
  }

  it('is refused if no cookies could hold the rest', () => {
    const providerResource = `https://api.example/${text(2028)}`;
    const scope = text(2000);
    const oauth = { redirectUri: longUri, codeChallenge: challenge, providerResource, scope };
    const login = newLogin(0, { state: text(2048), oauth });
    const question = createStates([key], registration, redirectUri, 'consent');
    for (const all of [states, question]) {
      expect(() => all.seal(login))
        .to.throw(RelayError)
        .with.property('code', 'front_end_state_unusable');
    }
  });

  it('is whole in the question to a person, however long it is', () => {
    const question = createStates([key], registration, redirectUri, 'consent');
    const login = newLogin(0, requests['a state of 2,048 in an OAuth request']);
    const { state, kept } = question.seal(login);
    expect(kept).to.equal(undefined);
    expect(question.open(state)).to.deep.include(login);
  });

  it('opens if version 0.4 has sealed a long request into it, because a login may be in flight during the upgrade', () => {
    const seal = createSeal('state', [key], v.unknown());
    const request = { state: text(512), returnTo: `https://app.example/${text(2028)}` };
    const login = newLogin(1_800_000_000, request);
    const state = seal.seal(
      [login.id.toString('base64url'), login.issuedAt, 'app', request],
      registration(),
      redirectUri,
    );
    expect(states.open(state)).to.deep.include(login);
    expect(states.peek(state)).to.deep.equal(login);
  });

  describe('whose request a cookie holds', () => {
    const long = { state: text(1500) };
    const login = newLogin(1_800_000_000, long);
    const { state, kept = '' } = states.seal(login);

    it('says where a failure of a plain login goes if the cookie is lost, but not where a failure of an OAuth login goes', () => {
      expect(states.open(state)).to.deep.equal({ ...login, request: undefined, isPlain: true });
      expect(states.peek(state)).to.deep.equal({ ...login, request: {} });
      expect(states.peek(state, () => kept)).to.deep.equal(login);
      const oauth = { redirectUri: 'https://app.example/', codeChallenge: 'c'.repeat(43) };
      const ofLibrary = states.seal(newLogin(0, { ...long, oauth }));
      expect(states.open(ofLibrary.state)).to.include({ issuedAt: 0, request: undefined, isPlain: false });
      expect(states.peek(ofLibrary.state)).to.equal(undefined);
      expect(states.peek(ofLibrary.state, () => ofLibrary.kept)?.request).to.deep.equal({ ...long, oauth });
    });

    it('does not open to the request of another login, registration or purpose, nor to an altered request', () => {
      const elsewhere = createStates([key], () => 'other', redirectUri);
      const atOtherPath = createStates([key], registration, `${redirectUri}/`);
      const flipped = Buffer.from(kept, 'base64url');
      flipped[40] = (flipped[40] ?? 0) ^ 1;
      const wrong = [
        states.seal(newLogin(1_800_000_000, long)).kept,
        elsewhere.seal(login).kept,
        atOtherPath.seal(login).kept,
        createStates([randomBytes(32)], registration, redirectUri).seal(login).kept,
        createStates([key], registration, redirectUri, 'consent').seal(login).state,
        state,
        flipped.toString('base64url'),
        kept.slice(0, 700),
        kept.slice(0, -1),
        kept.slice(700),
        kept + kept,
        '',
      ];
      for (const [index, other] of wrong.entries()) {
        expect(states.open(state, () => other)?.request, `${index}`).to.equal(undefined);
      }
      expect(states.open(kept)).to.equal(undefined);
    });

    it('finds its cookies only by the id of its login', () => {
      const asked: string[] = [];
      states.open(state, (id) => void asked.push(id.toString('hex')));
      expect(asked).to.deep.equal([login.id.toString('hex')]);
      const whole = states.seal(newLogin(0)).state;
      states.open(whole, () => expect.fail('nothing is kept'));
    });
  });

  for (const [audience, elsewhere] of Object.entries({
    'another registration or client': createStates([key], () => 'other', redirectUri),
    'another redirect URI': createStates([key], registration, `${redirectUri}/`),
    'another key': createStates([randomBytes(32)], registration, redirectUri),
  })) {
    it(`does not open at a relay of ${audience}`, () => {
      const state = states.seal(newLogin(0)).state;
      expect(elsewhere.open(state)).to.equal(undefined);
      expect(states.open(elsewhere.seal(newLogin(0)).state)).to.equal(undefined);
      expect(states.open(state)).not.to.equal(undefined);
    });
  }

  it('opens to nothing for a failure as long as the provider is not known', () => {
    const unknown = createStates(
      [key],
      () => {
        throw new RelayError('provider_undiscovered');
      },
      redirectUri,
    );
    const state = states.seal(newLogin(0)).state;
    expect(unknown.peek(state)).to.equal(undefined);
    expect(() => unknown.open(state)).to.throw(RelayError);
    for (const other of [undefined, [state, state], 7]) {
      expect(states.peek(other)).to.equal(undefined);
    }
    expect(states.peek(state)?.frontEnd).to.equal('app');
  });
});
