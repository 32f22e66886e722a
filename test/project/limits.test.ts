import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { limits } from '../../src/limits.ts';

const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

/** The limits of the configuration file, which are not in the table because its faults name them. */
type OfFile = 'apisOfFrontEnd' | 'configFileSize' | 'configFileAliases' | 'registrations' | 'resources' | 'frontEnds';

/** The name of each other limit in the table. */
const names: Readonly<Record<Exclude<keyof typeof limits, OfFile | 'smallChunkSize'>, string>> = {
  handshakeTime: 'time for a TLS handshake',
  helloSize: 'first message of a client in a TLS handshake, with its framing',
  headersTime: 'time for the headers of a request',
  requestTime: 'time for a whole request',
  requestBodyTime: 'time for the body of a token or revocation request',
  answerTime: 'time without progress while a client reads its answer',
  keepAliveTime: 'idle time of a connection',
  lingerTime: 'time to read the answer, for a client that is still sending',
  stopTime: 'requests in flight while the relay stops',
  stopIdleTime: 'wait for a further request on a kept connection while the relay stops',
  headerSize: 'request line and headers',
  headerSizeWithCookies:
    'request line and headers, if a front end had sessions or a resource opened to browsers when the relay started',
  headers: 'headers of a request',
  requestsOfConnection: 'requests that one connection sends without waiting for an answer',
  smallChunks: 'chunks of a body with fewer than 64 bytes each that arrive together',
  documentSize: 'the metadata document of a client',
  documentTime: 'time for the metadata document of a client',
  clientIdLength: 'the `client_id` that a client gets by registration',
  newClients:
    'registrations of one client address in ten minutes, if `--rate-limit` is off. Each origin of pages at this address has a count of its own',
  codeLength: '`code`',
  accessTokenSize: 'an access token',
  idTokenSize: 'an ID token',
  refreshTokenSize: 'a refresh token',
  extraFieldSize: 'a field of `token-fields` or `callback-fields`',
  parameters: 'parameters of a query or a form',
  frontEndStateSize: "the front end's `state`",
  keptRequestLength: 'the sealed request of a front end, if it does not fit into the `state` at the provider',
  returnToLength: 'the page that a session returns to',
  resourceLength: '`resource`',
  wayBackLength: 'path and query that a browser returns to after its login at a resource',
  loginHintLength: '`login_hint`',
  logoutTime: 'time that a logout waits for the revocation at the provider',
  sealedLength: 'a code or refresh token of the relay',
  resourceTokenLength: 'an access token for a resource',
  identitySize: 'the identity that a resource gets',
  proofLength: 'a DPoP proof',
  assertionLength: 'the signed assertion of a machine',
  providerCalls: 'calls to the provider in flight',
  requestBodySize: 'body of a token or revocation request',
  providerAnswerSize: "body of a provider's answer",
  apiCallsOfSession: "calls to providers' APIs in flight, of one session",
  apiCallsOfAddress: "calls to providers' APIs in flight, of one client address",
  apiPace: "the slowest transfer of a body between a client and the provider's API",
  apiOrdinaryPace: 'the slowest transfer to or from an API while half of the places for such calls are taken',
  apiCallTime: "time for a call to the provider's API",
  apiRequestSize: "body of a request to the provider's API",
  streams: 'requests in flight to servers behind the gateway, including event streams and WebSockets',
  streamsOfLogin: 'requests in flight through the gateway, of one login',
  streamsOfAddress: 'requests in flight through the gateway, of one client address',
  streamsOfPerson: 'requests in flight through the gateway, of one person or machine',
  streamsOfNewcomer: 'requests through the gateway that each person may have even if all places are taken',
  streamHeadTime: 'time until a server behind the gateway answers',
  streamHeadSize: 'the headers of an answer through the gateway',
  answerAfterTokenTime: 'time that an answer through the gateway may continue after its token has ended',
  earlyWebSocketSize: 'bytes that a client may send before its WebSocket is open',
  halfClosedTime: 'time for a server to end a WebSocket whose client has closed its side',
  stopListeningTime: 'time over which event streams and WebSockets end while the relay stops',
  apiResponseSize: "body of a response of the provider's API",
};
const units: Readonly<Record<string, number>> = { s: 1000, KiB: 1024, MiB: 1024 * 1024 };

describe('the limits', () => {
  for (const [limit, name] of Object.entries(names)) {
    it(`have the documented value: ${name}`, () => {
      const row = operations.split('\n').find((line) => line.startsWith(`| ${name} | `)) ?? '';
      const [, number = '', unit = ''] = /^\| .+? \| ([\d.,]+)(?: (\w+))?/.exec(row) ?? [];
      const value = Number(number.replaceAll(',', '')) * (units[unit] ?? 1);
      expect({ [limit]: value }).to.deep.equal({ [limit]: limits[limit as keyof typeof limits] });
    });
  }
});
