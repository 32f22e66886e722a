import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { RelayError } from '../../src/failures/relay-error.ts';
import { createStates, type FrontEndRequest, type LoginState } from '../../src/login/state.ts';

const key = randomBytes(32);
const registration = () => 'provider https://id.example - client-1';
const redirectUri = 'https://relay.example/auth/provider/callback';
const states = createStates([key], registration, redirectUri);

function newLogin(issuedAt: number, request: FrontEndRequest = {}): LoginState {
  return { id: randomBytes(16), issuedAt, frontEnd: 'app', request };
}

describe('the state parameter', () => {
  it('contains the whole login', () => {
    const oauth = { redirectUri: 'https://app.example/', codeChallenge: 'c'.repeat(43) };
    const login = newLogin(1_800_000_000, {
      state: 'own ✓',
      oauth,
      returnTo: 'https://a.example/',
    });
    expect(states.open(states.seal(login))).to.deep.equal(login);
  });

  it('leaves out what the login was not started with', () => {
    const login = newLogin(1_800_000_000, { state: undefined, oauth: undefined });
    expect(states.open(states.seal(login))).to.deep.equal({ ...login, request: {} });
  });

  it('is at most 400 characters long for an OAuth request of a library', () => {
    const oauth = { redirectUri: 'https://app.example/cb', codeChallenge: 'c'.repeat(43) };
    const state = states.seal(newLogin(1_800_000_000, { state: 'x'.repeat(43), oauth }));
    expect(state.length).to.be.at.most(400);
  });

  it('fits into 6,144 characters with the longest request of a front end', () => {
    const uri = `https://app.example/${'x'.repeat(492)}`;
    const oauth = { redirectUri: uri, codeChallenge: 'c'.repeat(43) };
    const longest = { state: '🔑'.repeat(512), oauth };
    const state = states.seal(newLogin(1_800_000_000, longest));
    expect(state.length).to.be.at.most(6144);
    expect(states.open(state)?.request).to.deep.equal(longest);
  });

  it('fits in with the longest state and the longest page of a session', () => {
    const returnTo = `https://app.example/${'x'.repeat(2028)}`;
    const longest = { state: '🔑'.repeat(512), returnTo };
    const login = { ...newLogin(1_800_000_000, longest), frontEnd: 'a'.repeat(64) };
    const state = states.seal(login);
    expect(state.length).to.be.at.most(6144);
    expect(states.open(state)).to.deep.equal(login);
  });

  it('opens even if JSON needs the most characters for its texts', () => {
    const returnTo = `https://app.example/?${'\\'.repeat(2027)}`;
    const login = newLogin(1_800_000_000, { state: '\0'.repeat(512), returnTo });
    expect(states.open(states.seal(login))).to.deep.equal(login);
  });

  for (const [audience, elsewhere] of Object.entries({
    'another registration or client': createStates([key], () => 'other', redirectUri),
    'another redirect URI': createStates([key], registration, `${redirectUri}/`),
    'another key': createStates([randomBytes(32)], registration, redirectUri),
  })) {
    it(`does not open at a relay of ${audience}`, () => {
      const state = states.seal(newLogin(0));
      expect(elsewhere.open(state)).to.equal(undefined);
      expect(states.open(elsewhere.seal(newLogin(0)))).to.equal(undefined);
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
    const state = states.seal(newLogin(0));
    expect(unknown.peek(state)).to.equal(undefined);
    expect(() => unknown.open(state)).to.throw(RelayError);
    for (const other of [undefined, [state, state], 7]) {
      expect(states.peek(other)).to.equal(undefined);
    }
    expect(states.peek(state)?.frontEnd).to.equal('app');
  });
});
