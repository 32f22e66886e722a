import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { FrontEndRequest } from '../../src/login/front-end.ts';
import {
  createStateSigner,
  type LoginState,
  newLoginId,
  parseState,
  type ReceivedState,
} from '../../src/login/state.ts';

const key = randomBytes(32);
const clientId = 'client-1';
const redirectUri = 'https://relay.example/auth/provider/callback';
const client = { clientId, redirectUri };
const secret = randomBytes(32);

function newLogin(issuedAt: number, request: Partial<FrontEndRequest> = {}): LoginState {
  return {
    id: newLoginId(),
    issuedAt,
    registration: 'provider',
    frontEnd: 'app',
    request: { state: undefined, oauth: undefined, returnTo: undefined, ...request },
  };
}

function parsed(state: string): ReceivedState {
  const received = parseState(state);
  if (received === undefined) throw new Error('this is no state');
  return received;
}

describe('the state parameter', () => {
  const signer = createStateSigner([key], client);
  const signed = () => signer.sign(newLogin(1_800_000_000, { state: 'own' }), secret);

  it('contains the whole login', () => {
    const login = newLogin(1_800_000_000, { state: 'own ✓' });
    const received = parsed(signer.sign(login, secret));
    expect(received.login).to.deep.equal(login);
    expect(signer.verify(received, secret)).to.equal(true);
  });

  it('is different for each login', () => {
    const ids = Array.from({ length: 1000 }, () => newLogin(0).id.toString('hex'));
    expect(new Set(ids).size).to.equal(1000);
    for (const id of ids) expect(id).to.match(/^[0-9a-f]{32}$/);
  });

  it('needs no percent-encoding in a URL', () => {
    for (let count = 0; count < 100; count += 1) expect(signed()).to.match(/^[\w-]+$/);
  });

  it('fits into 6,144 characters with the longest request of a front end', () => {
    const redirectUri = `https://app.example/${'x'.repeat(492)}`;
    const oauth = { redirectUri, codeChallenge: 'c'.repeat(43) };
    const request = { state: '🔑'.repeat(512), oauth, returnTo: undefined };
    const state = signer.sign(newLogin(0, request), secret);
    expect(state.length).to.be.at.most(6144);
    expect(parsed(state).login.request).to.deep.equal(request);
  });

  it('fits in with the longest state and the longest page of a session', () => {
    const returnTo = `https://app.example/${'x'.repeat(2028)}`;
    const request = { state: '🔑'.repeat(512), oauth: undefined, returnTo };
    const names = { registration: 'r'.repeat(64), frontEnd: 'a'.repeat(64) };
    const login = { ...newLogin(0, request), ...names };
    expect(parsed(signer.sign(login, secret)).login.request).to.deep.equal(request);
  });

  it('can be signed until the year 2106', () => {
    const login = newLogin(2 ** 32 - 1);
    expect(parsed(signer.sign(login, secret)).login).to.deep.equal(login);
  });

  it('is refused if its version is unknown, or it is too short or too long', () => {
    const bytes = Buffer.from(signed(), 'base64url');
    for (const version of [0, 1, 2, 3, 5, 255]) {
      const other = Buffer.from(bytes);
      other.writeUInt8(version, 0);
      expect(parseState(other.toString('base64url'))).to.equal(undefined);
    }
    const shortest = Buffer.alloc(1 + 4 + 16 + 6 * 4 + 32);
    shortest.writeUInt8(4, 0);
    expect(parseState(shortest.toString('base64url'))).not.to.equal(undefined);
    expect(parseState(shortest.subarray(0, -1).toString('base64url'))).to.equal(undefined);
    const ofLength = (length: number) => {
      const login = newLogin(0);
      const spare = length - Buffer.from(signer.sign(login, secret), 'base64url').length;
      return parseState(signer.sign(newLogin(0, { state: 'x'.repeat(spare) }), secret));
    };
    expect(ofLength(4608)).not.to.equal(undefined);
    expect(ofLength(4609)).to.equal(undefined);
    expect(parseState('')).to.equal(undefined);
  });

  it('is refused if a field is missing, left over, or longer than the state', () => {
    const bytes = Buffer.from(signed(), 'base64url');
    const payload = bytes.subarray(0, -32);
    const mac = bytes.subarray(-32);
    const empty = Buffer.alloc(4);
    const last = payload.length - Buffer.byteLength('own') - 4;
    const tooLong = Buffer.from(payload);
    tooLong.writeUInt32BE(4, last);
    const tooShort = Buffer.from(payload);
    tooShort.writeUInt32BE(2, last);
    for (const other of [
      payload.subarray(0, last),
      Buffer.concat([payload, empty]),
      tooLong,
      tooShort,
    ]) {
      const state = Buffer.concat([other, mac]).toString('base64url');
      expect(parseState(state)).to.equal(undefined);
    }
  });

  describe('is verified only for the browser, client and redirect URI it was signed for:', () => {
    it('not for another browser', () => {
      const received = parsed(signed());
      for (const other of [
        randomBytes(32),
        Buffer.alloc(32),
        Buffer.alloc(0),
        secret.subarray(1),
      ]) {
        expect(signer.verify(received, other)).to.equal(false);
      }
    });

    it('not if any bit of the secret or of the MAC is changed', () => {
      const received = parsed(signed());
      for (const genuine of [secret, received.mac]) {
        for (let bit = 0; bit < genuine.length * 8; bit += 1) {
          const altered = Buffer.from(genuine);
          altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
          const isAuthentic =
            genuine === secret
              ? signer.verify(received, altered)
              : signer.verify({ ...received, mac: altered }, secret);
          expect(isAuthentic).to.equal(false);
        }
      }
      expect(signer.verify(received, secret)).to.equal(true);
    });

    it('not with a MAC of zeros, of ones, or of another login', () => {
      const received = parsed(signed());
      for (const mac of [Buffer.alloc(32), Buffer.alloc(32, 255), parsed(signed()).mac]) {
        expect(signer.verify({ ...received, mac }, secret)).to.equal(false);
      }
    });

    for (const [kind, other] of Object.entries({
      'another client': { clientId: 'client-2', redirectUri },
      'another redirect URI': { clientId, redirectUri: `${redirectUri}/` },
      'a client and a redirect URI that swapped a character': {
        clientId: `${clientId}h`,
        redirectUri: redirectUri.slice(1),
      },
      'a redirect URI that ran into the client': {
        clientId: clientId + redirectUri,
        redirectUri: '',
      },
      'a client that ran into the redirect URI': {
        clientId: '',
        redirectUri: clientId + redirectUri,
      },
      'a client and a redirect URI in each other’s place': {
        clientId: redirectUri,
        redirectUri: clientId,
      },
      'a client with a NUL': { clientId: `${clientId}\0`, redirectUri },
    })) {
      it(`not at a relay of ${kind}`, () => {
        const elsewhere = createStateSigner([key], other);
        expect(elsewhere.verify(parsed(signed()), secret)).to.equal(false);
        const fromElsewhere = parsed(elsewhere.sign(newLogin(0), secret));
        expect(signer.verify(fromElsewhere, secret)).to.equal(false);
      });
    }

    it('not at a relay of any other client and redirect URI', () => {
      const audience = fc.record({
        clientId: fc.string({ maxLength: 4 }),
        redirectUri: fc.string({ maxLength: 4 }),
      });
      fc.assert(
        fc.property(audience, audience, (one, two) => {
          const state = createStateSigner([key], one).sign(newLogin(0), secret);
          const same = one.clientId === two.clientId && one.redirectUri === two.redirectUri;
          expect(createStateSigner([key], two).verify(parsed(state), secret)).to.equal(same);
        }),
        { numRuns: 2000 },
      );
    });

    it('not if the boundary after the front end’s state is moved', () => {
      const received = parsed(signed());
      const { payload } = received;
      for (const other of [
        payload.subarray(0, -1),
        Buffer.concat([payload, Buffer.alloc(1)]),
        Buffer.concat([payload, Buffer.from([0, 0, 0, 32])]),
      ]) {
        expect(signer.verify({ ...received, payload: other }, secret)).to.equal(false);
      }
    });
  });

  describe('under several keys', () => {
    const [oldKey, newKey, otherKey] = [randomBytes(32), randomBytes(64), randomBytes(33)];
    const rotated = createStateSigner([newKey, oldKey], client);

    it('is signed with the first', () => {
      const received = parsed(rotated.sign(newLogin(0), secret));
      expect(createStateSigner([newKey], client).verify(received, secret)).to.equal(true);
      expect(createStateSigner([oldKey], client).verify(received, secret)).to.equal(false);
    });

    it('is authentic under any', () => {
      for (const one of [oldKey, newKey]) {
        const received = parsed(createStateSigner([one], client).sign(newLogin(0), secret));
        expect(rotated.verify(received, secret)).to.equal(true);
      }
    });

    it('is authentic under no other', () => {
      const received = parsed(createStateSigner([otherKey], client).sign(newLogin(0), secret));
      expect(rotated.verify(received, secret)).to.equal(false);
    });
  });
});
