import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  createStateSealer,
  newTransaction,
  parseState,
  type ReceivedState,
} from '../../src/oauth/login-state.ts';

const key = randomBytes(32);
const clientId = 'client-1';
const redirectUri = 'https://relay.example/auth/provider/callback';
const client = { clientId, redirectUri };
const secret = randomBytes(32);

function parsed(state: string): ReceivedState {
  const received = parseState(state);
  if (received === undefined) throw new Error('this is no state');
  return received;
}

describe('the state parameter', () => {
  const sealer = createStateSealer([key], client);
  const sealed = () => sealer.seal(newTransaction(1_800_000_000, 'own'), secret);

  it('carries a transaction there and back', () => {
    const transaction = newTransaction(1_800_000_000, 'own ✓');
    const received = parsed(sealer.seal(transaction, secret));
    expect(received.transaction).to.deep.equal(transaction);
    expect(sealer.isAuthentic(received, secret)).to.equal(true);
  });

  it('names no two transactions the same', () => {
    const ids = Array.from({ length: 1000 }, () => newTransaction(0, '').id.toString('hex'));
    expect(new Set(ids).size).to.equal(1000);
    for (const id of ids) expect(id).to.match(/^[0-9a-f]{32}$/);
  });

  it('needs no escaping in a URL', () => {
    for (let count = 0; count < 100; count += 1) expect(sealed()).to.match(/^[\w-]+$/);
  });

  it('fits into 4,096 characters with the longest state that a front end can send', () => {
    const state = sealer.seal(newTransaction(0, '🔑'.repeat(512)), secret);
    expect(state.length).to.be.at.most(4096);
    expect(parsed(state).transaction.frontEndState).to.equal('🔑'.repeat(512));
  });

  it('can be sealed until the year 2106', () => {
    const transaction = newTransaction(2 ** 32 - 1, '');
    expect(parsed(sealer.seal(transaction, secret)).transaction).to.deep.equal(transaction);
  });

  it('is no state where it has another version, is too short or too long', () => {
    const bytes = Buffer.from(sealed(), 'base64url');
    for (const version of [0, 2, 3, 255]) {
      const other = Buffer.from(bytes);
      other.writeUInt8(version, 0);
      expect(parseState(other.toString('base64url'))).to.equal(undefined);
    }
    const shortest = Buffer.alloc(1 + 4 + 16 + 32);
    shortest.writeUInt8(1, 0);
    expect(parseState(shortest.toString('base64url'))).not.to.equal(undefined);
    expect(parseState(shortest.subarray(0, -1).toString('base64url'))).to.equal(undefined);
    expect(parseState(Buffer.alloc(3072, 1).toString('base64url'))).not.to.equal(undefined);
    expect(parseState(Buffer.alloc(3073, 1).toString('base64url'))).to.equal(undefined);
    expect(parseState('')).to.equal(undefined);
  });

  describe('is authentic for nobody but the one it was sealed for:', () => {
    it('not for another browser', () => {
      const received = parsed(sealed());
      for (const other of [
        randomBytes(32),
        Buffer.alloc(32),
        Buffer.alloc(0),
        secret.subarray(1),
      ]) {
        expect(sealer.isAuthentic(received, other)).to.equal(false);
      }
    });

    it('not with any bit of the secret, or any bit of the code that proves it, another', () => {
      const received = parsed(sealed());
      for (const genuine of [secret, received.mac]) {
        for (let bit = 0; bit < genuine.length * 8; bit += 1) {
          const altered = Buffer.from(genuine);
          altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
          const isAuthentic =
            genuine === secret
              ? sealer.isAuthentic(received, altered)
              : sealer.isAuthentic({ ...received, mac: altered }, secret);
          expect(isAuthentic).to.equal(false);
        }
      }
      expect(sealer.isAuthentic(received, secret)).to.equal(true);
    });

    it('not with a code of zeros, of ones, or that proves another login', () => {
      const received = parsed(sealed());
      for (const mac of [Buffer.alloc(32), Buffer.alloc(32, 255), parsed(sealed()).mac]) {
        expect(sealer.isAuthentic({ ...received, mac }, secret)).to.equal(false);
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
        const elsewhere = createStateSealer([key], other);
        expect(elsewhere.isAuthentic(parsed(sealed()), secret)).to.equal(false);
        const fromElsewhere = parsed(elsewhere.seal(newTransaction(0, ''), secret));
        expect(sealer.isAuthentic(fromElsewhere, secret)).to.equal(false);
      });
    }

    it('not at a relay of any other client and redirect URI', () => {
      const audience = fc.record({
        clientId: fc.string({ maxLength: 4 }),
        redirectUri: fc.string({ maxLength: 4 }),
      });
      fc.assert(
        fc.property(audience, audience, (one, two) => {
          const state = createStateSealer([key], one).seal(newTransaction(0, ''), secret);
          const same = one.clientId === two.clientId && one.redirectUri === two.redirectUri;
          expect(createStateSealer([key], two).isAuthentic(parsed(state), secret)).to.equal(same);
        }),
        { numRuns: 2000 },
      );
    });

    it('not where the front end’s state runs on into what follows, or falls short of it', () => {
      const received = parsed(sealed());
      const { payload } = received;
      for (const other of [
        payload.subarray(0, -1),
        Buffer.concat([payload, Buffer.alloc(1)]),
        Buffer.concat([payload, Buffer.from([0, 0, 0, 32])]),
      ]) {
        expect(sealer.isAuthentic({ ...received, payload: other }, secret)).to.equal(false);
      }
    });
  });

  describe('under several keys', () => {
    const [oldKey, newKey, otherKey] = [randomBytes(32), randomBytes(64), randomBytes(33)];
    const rotated = createStateSealer([newKey, oldKey], client);

    it('is sealed with the first', () => {
      const received = parsed(rotated.seal(newTransaction(0, ''), secret));
      expect(createStateSealer([newKey], client).isAuthentic(received, secret)).to.equal(true);
      expect(createStateSealer([oldKey], client).isAuthentic(received, secret)).to.equal(false);
    });

    it('is authentic under any', () => {
      for (const one of [oldKey, newKey]) {
        const received = parsed(
          createStateSealer([one], client).seal(newTransaction(0, ''), secret),
        );
        expect(rotated.isAuthentic(received, secret)).to.equal(true);
      }
    });

    it('is authentic under no other', () => {
      const received = parsed(
        createStateSealer([otherKey], client).seal(newTransaction(0, ''), secret),
      );
      expect(rotated.isAuthentic(received, secret)).to.equal(false);
    });
  });
});
