import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from '../keys.ts';
import type { FrontEndRequest } from './front-end.ts';

const version = 4;
const issuedAtLength = 4;
const idLength = 16;
const headLength = 1 + issuedAtLength + idLength;
const macLength = 32;
const lengthLength = 4;
// The longest front end state (512 characters of 4 bytes), a page to return to and the names fit in.
const longestState = 6144;

/** What the `state` parameter says about one login. */
export interface LoginState {
  /** 16 random bytes that identify the login. */
  readonly id: Buffer;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** Name of the registration that the login was started with. */
  readonly registration: string;
  /** Name of the front end that started the login. */
  readonly frontEnd: string;
  readonly request: FrontEndRequest;
}

/** A state as received. `login` is a claim until {@link StateSigner.verify} returns true. */
export interface ReceivedState {
  readonly login: LoginState;
  readonly payload: Buffer;
  readonly mac: Buffer;
}

/**
 * Signs the `state` parameter, bound to one browser, one client and one redirect URI.
 *
 * @see RFC 6749 §10.12, RFC 9700 §4.7
 */
export interface StateSigner {
  sign(login: LoginState, browserSecret: Buffer): string;
  /** Whether this state was signed here for the browser with this secret. Takes constant time. */
  verify(state: ReceivedState, browserSecret: Buffer): boolean;
}

/** @returns 16 random bytes that identify a new login */
export function newLoginId(): Buffer {
  return randomBytes(idLength);
}

/** @param keys the first key signs; all keys verify, so that keys can be rotated */
export function createStateSigner(
  keys: KeyRing,
  client: {
    readonly clientId: string;
    readonly redirectUri: string;
    /** The provider's configured issuer. Client identifiers are unique only at one issuer. */
    readonly issuer?: string | undefined;
  },
): StateSigner {
  const { clientId, redirectUri, issuer } = client;
  const audience = joinFields(clientId, redirectUri, ...(issuer === undefined ? [] : [issuer]));

  function macOf(key: Buffer, payload: Buffer, browserSecret: Buffer): Buffer {
    const secretHash = hash('sha256', browserSecret, 'buffer');
    return createHmac('sha256', key)
      .update(joinFields(payload, secretHash))
      .update(audience)
      .digest();
  }

  return {
    sign(login, browserSecret) {
      const payload = encode(login);
      return Buffer.concat([payload, macOf(keys[0], payload, browserSecret)]).toString('base64url');
    },
    verify({ payload, mac }, browserSecret) {
      return keys.some((key) => timingSafeEqual(macOf(key, payload, browserSecret), mac));
    },
  };
}

/**
 * Parses a state without verifying it.
 *
 * @returns undefined if the text does not have the form of a state
 */
export function parseState(state: string): ReceivedState | undefined {
  if (state.length > longestState) return undefined;
  const bytes = Buffer.from(state, 'base64url');
  // The decoder skips invalid characters: accept only the one spelling that the signer writes.
  if (bytes.toString('base64url') !== state) return undefined;
  if (bytes.length < headLength + macLength || bytes[0] !== version) return undefined;
  const payload = bytes.subarray(0, -macLength);
  const fields = splitFields(payload.subarray(headLength));
  if (!isComplete(fields)) return undefined;
  const [registration, frontEnd, frontEndState, redirectUri, codeChallenge, returnTo] = fields;
  return {
    login: {
      issuedAt: payload.readUInt32BE(1),
      id: payload.subarray(1 + issuedAtLength, headLength),
      registration,
      frontEnd,
      request: {
        state: frontEndState === '' ? undefined : frontEndState,
        oauth: codeChallenge === '' ? undefined : { redirectUri, codeChallenge },
        returnTo: returnTo === '' ? undefined : returnTo,
      },
    },
    payload,
    mac: bytes.subarray(-macLength),
  };
}

type Fields = readonly [
  registration: string,
  frontEnd: string,
  frontEndState: string,
  redirectUri: string,
  codeChallenge: string,
  returnTo: string,
];

function isComplete(fields: readonly string[]): fields is Fields {
  return fields.length === 6;
}

function encode({ id, issuedAt, registration, frontEnd, request }: LoginState): Buffer {
  const head = Buffer.alloc(1 + issuedAtLength);
  head[0] = version;
  head.writeUInt32BE(issuedAt, 1);
  const { state = '', oauth, returnTo = '' } = request;
  const { redirectUri, codeChallenge } = oauth ?? { redirectUri: '', codeChallenge: '' };
  const fields: Fields = [registration, frontEnd, state, redirectUri, codeChallenge, returnTo];
  return Buffer.concat([head, id, joinFields(...fields)]);
}

/** The length of each field precedes it, so different lists of fields never give the same bytes. */
function joinFields(...fields: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const bytes = Buffer.from(field);
      const length = Buffer.allocUnsafe(lengthLength);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

/** @returns no fields if the bytes are not what {@link joinFields} writes */
function splitFields(bytes: Buffer): string[] {
  const fields: string[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    if (bytes.length - offset < lengthLength) return [];
    const start = offset + lengthLength;
    offset = start + bytes.readUInt32BE(offset);
    if (offset > bytes.length) return [];
    fields.push(bytes.toString('utf8', start, offset));
  }
  return fields;
}
