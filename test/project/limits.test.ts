import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { limits } from '../../src/limits.ts';

const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

/** The limits of the configuration file: its faults name them. */
type OfFile = 'apisOfFrontEnd' | 'configFileSize' | 'configFileAliases' | 'registrations' | 'resources' | 'frontEnds';

/** The name of each other limit in the table. */
const names: Readonly<Record<Exclude<keyof typeof limits, OfFile | 'smallChunkSize'>, string>> = {
  handshakeTime: 'time for a TLS handshake',
  headersTime: 'time for the headers of a request',
  requestTime: 'time for a whole request',
  requestBodyTime: 'time for the body of a token or revocation request',
  answerTime: 'time without progress while a client takes its answer',
  keepAliveTime: 'idle time of a connection',
  lingerTime: 'time to read the answer, for a client that is still sending',
  stopTime: 'requests in flight while the relay stops',
  stopIdleTime: 'another request on a kept connection while the relay stops',
  headerSize: 'request line and headers',
  headerSizeWithCookies:
    'request line and headers, if a front end has sessions, or a resource opens to browsers, at the start',
  headers: 'headers of a request',
  requestsOfConnection: 'requests of one connection at once',
  smallChunks: 'chunks of a body that are smaller than 64 bytes and come together',
  documentSize: 'the metadata document of a client',
  documentTime: 'time for the metadata document of a client',
  clientIdLength: '`client_id` of a registration',
  newClients:
    'registrations (without `--rate-limit`), and documents fetched, of one client address (pages: and origin) in ten minutes',
  codeLength: '`code`',
  accessTokenSize: 'an access token',
  idTokenSize: 'an ID token',
  refreshTokenSize: 'a refresh token',
  extraFieldSize: 'one of `token-fields` or `callback-fields`',
  parameters: 'parameters of a query or a form',
  frontEndStateSize: "the front end's `state`",
  keptRequestLength: 'what a front end sends at a start, sealed, if it does not fit into the `state` at the provider',
  returnToLength: 'the page that a session returns to',
  wayBackLength: 'path and query that a browser returns to after its login at a resource',
  loginHintLength: '`login_hint`',
  logoutTime: 'revocation while a session is logged out',
  sealedLength: 'a code or refresh token of the relay',
  resourceTokenLength: 'an access token for a resource',
  identitySize: 'what a resource is told of a person',
  proofLength: 'a DPoP proof',
  assertionLength: 'the signed assertion of a machine',
  providerCalls: 'calls to the provider in flight',
  requestBodySize: 'body of a token or revocation request',
  providerAnswerSize: "body of a provider's answer",
  apiCallsOfSession: "calls to providers' APIs in flight, of one session",
  apiCallsOfAddress: "calls to providers' APIs in flight, of one client address",
  apiPace: "bytes of a body that a client lets pass between it and the provider's API",
  apiOrdinaryPace: 'the same while half of the calls to APIs are in flight',
  apiCallTime: "time for a call to the provider's API",
  apiRequestSize: "body of a request to the provider's API",
  streams: 'requests to servers behind the gateway, event streams and WebSockets included',
  streamsOfLogin: 'the same of one login',
  streamsOfAddress: 'the same of one client address',
  streamsOfPerson: 'the same of one person or machine',
  streamsOfNewcomer: 'the same, guaranteed to each person even if all are taken',
  streamHeadTime: 'time until a server behind the gateway answers',
  streamHeadSize: 'the head of its answer',
  answerAfterTokenTime: 'time for an answer after its token has ended',
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
