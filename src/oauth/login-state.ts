import { hash, timingSafeEqual } from 'node:crypto';
import { hmacSha256 } from './hmac.ts';
import { randomBytes } from './random-bytes.ts';

const version = 1;
const issuedAtLength = 4;
const idLength = 16;
const macLength = 32;
const headLength = 1 + issuedAtLength + idLength;
// Room for the longest front-end state (512 characters of 4 bytes) with some to spare.
const longestState = 4096;

/** One login, from its start to its callback. */
export interface Transaction {
  /** 16 random bytes. */
  readonly id: Buffer;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** The front end's own state; empty where it sent none. */
  readonly frontEndState: string;
}

/** A state as it was received: what it claims, and the code that is to prove it. */
export interface ReceivedState {
  readonly transaction: Transaction;
  readonly payload: Buffer;
  readonly mac: Buffer;
}

/**
 * Seals transactions into the `state` parameter, bound to one browser, client and redirect URI.
 *
 * @see RFC 6749 §10.12, RFC 9700 §4.7
 */
export interface StateSealer {
  seal(transaction: Transaction, browserSecret: Buffer): string;
  /** Whether the state was sealed here, for the browser that holds the secret. Constant time. */
  isAuthentic(state: ReceivedState, browserSecret: Buffer): boolean;
}

/** @param issuedAt seconds since 1970 */
export function newTransaction(issuedAt: number, frontEndState: string): Transaction {
  return { id: randomBytes(idLength), issuedAt, frontEndState };
}

/** @param keys the first one seals, every one is accepted: that is how keys are rotated */
export function createStateSealer(
  keys: readonly [Buffer, ...Buffer[]],
  client: { readonly clientId: string; readonly redirectUri: string },
): StateSealer {
  const audience = Buffer.concat(
    [client.clientId, client.redirectUri].map((text) => {
      const bytes = Buffer.from(text);
      return Buffer.concat([lengthOf(bytes), bytes]);
    }),
  );

  // Every field carries its length, so that no two inputs run together into the same bytes.
  function macOf(key: Buffer, payload: Buffer, browserSecret: Buffer): Buffer {
    const secretHash = Buffer.from(hash('sha256', browserSecret, 'base64url'));
    return hmacSha256(key, [
      lengthOf(payload),
      payload,
      lengthOf(secretHash),
      secretHash,
      audience,
    ]);
  }

  return {
    seal(transaction, browserSecret) {
      const payload = encode(transaction);
      return Buffer.concat([payload, macOf(keys[0], payload, browserSecret)]).toString('base64url');
    },
    isAuthentic({ payload, mac }, browserSecret) {
      return keys.some((key) => timingSafeEqual(macOf(key, payload, browserSecret), mac));
    },
  };
}

/**
 * Takes a state apart, without believing it yet.
 *
 * @returns undefined where no state of this relay looks like this
 */
export function parseState(state: string): ReceivedState | undefined {
  if (state.length > longestState) return undefined;
  const bytes = Buffer.from(state, 'base64url');
  // Decoding skips what is not base64url: only what encodes back the same was sealed here.
  if (bytes.toString('base64url') !== state) return undefined;
  if (bytes.length < headLength + macLength || bytes[0] !== version) return undefined;
  const payload = bytes.subarray(0, -macLength);
  return {
    transaction: {
      issuedAt: payload.readUInt32BE(1),
      id: payload.subarray(1 + issuedAtLength, headLength),
      frontEndState: payload.subarray(headLength).toString(),
    },
    payload,
    mac: bytes.subarray(-macLength),
  };
}

function encode({ id, issuedAt, frontEndState }: Transaction): Buffer {
  const head = Buffer.alloc(1 + issuedAtLength);
  head[0] = version;
  head.writeUInt32BE(issuedAt, 1);
  return Buffer.concat([head, id, Buffer.from(frontEndState)]);
}

function lengthOf(field: Buffer): Buffer {
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(field.length);
  return length;
}
