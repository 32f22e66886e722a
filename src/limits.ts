/**
 * The limits of connections, messages, calls and the configuration file. Times are in milliseconds, sizes in bytes,
 * lengths in characters. docs/operations.md says what happens at each.
 */
export const limits = {
  // Connections

  handshakeTime: 10_000,
  /** Even with keys for post-quantum cryptography, a hello has about 2,000 bytes. */
  helloSize: 16 * 1024,
  /** The time for the headers of a request, from the connection or from the first byte on a kept connection. */
  headersTime: 10_000,
  /** The time for a whole request, from the start of its headers. An upload to a provider's API takes the longest. */
  requestTime: 600_000,
  answerTime: 30_000,
  /** The time without a request. It is longer than the 120 s of common balancers, so that they close first. */
  keepAliveTime: 125_000,
  /** The time in which a client that still sends can read its response, before the connection is closed. */
  lingerTime: 1_000,
  stopTime: 30_000,
  /** The time for kept connections without a request while the relay stops. */
  stopIdleTime: 500,

  // Requests

  headerSize: 16 * 1024,
  /** A browser sends all cookies with every request, also those of an application behind the relay. */
  headerSizeWithCookies: 64 * 1024,
  headers: 200,
  /** Requests of one connection that are read before the first of them is answered (pipelining). */
  requestsOfConnection: 16,
  /**
   * The most chunks of one body that are shorter than `smallChunkSize`. A chunk that is alone in its piece (parsing.ts)
   * does not count.
   */
  smallChunks: 512,
  smallChunkSize: 64,
  parameters: 100,
  /** The body of a request to the token or the revocation endpoint. */
  requestBodySize: 16 * 1024,
  /** The time in which such a body arrives, or an equally small body for the provider's API. */
  requestBodyTime: 10_000,
  codeLength: 4096,
  frontEndStateSize: 2048,
  /** A sealed request that does not fit into the `state` at the provider. Up to eight cookies hold it. */
  keptRequestLength: 5600,
  returnToLength: 2048,
  /** The parameter `resource` of an OAuth request. */
  resourceLength: 2048,
  loginHintLength: 256,
  /** A code or refresh token of the relay. A token request has room for more. */
  sealedLength: 12 * 1024,
  /** An access token for a resource, which every request to it contains. */
  resourceTokenLength: 6 * 1024,
  /** The identity of a person that a resource learns, as JSON in UTF-8. It has to fit into such an access token. */
  identitySize: 4000,
  /** The path and query that a browser returns to after its login at a resource. */
  wayBackLength: 1000,
  proofLength: 4096,
  /** The signed assertion by which a machine proves its key. */
  assertionLength: 4096,

  // Clients that nobody registered

  /** The metadata document of a client. */
  documentSize: 5 * 1024,
  /** The time to fetch such a document. */
  documentTime: 3_000,
  clientIdLength: 4096,
  /** Registrations and fetches of documents for each client address in ten minutes. */
  newClients: 60,

  // Calls to the provider

  providerCalls: 256,
  providerAnswerSize: 1024 * 1024,
  /** An access token as UTF-8. A longer token would not fit into the headers of a user lookup. */
  accessTokenSize: 15 * 1024,
  idTokenSize: 15 * 1024,
  /** A refresh token as UTF-8. A longer token, sealed, would not fit into the body of a refresh. */
  refreshTokenSize: 8 * 1024,
  /** A field that front ends get besides tokens, as UTF-8 in JSON. */
  extraFieldSize: 512,
  logoutTime: 3_000,

  // Requests to the provider's API through the relay

  /** The time for a call with both bodies. */
  apiCallTime: 600_000,
  apiCallsOfSession: 32,
  apiCallsOfAddress: 64,
  /** The fewest bytes of both bodies that a client must pass in a minute. */
  apiPace: 64 * 1024,
  /** The pace below which a call is ended to make room for others. */
  apiOrdinaryPace: 256 * 1024,
  apiRequestSize: 64 * 1024 * 1024,
  apiResponseSize: 256 * 1024 * 1024,

  // Requests to servers behind the gateway

  /** The requests at the same time, with event streams. */
  streams: 1024,
  streamsOfLogin: 32,
  streamsOfAddress: 256,
  /** The places of one person or machine. Once half of all places are taken, it gets at most a quarter of the free ones. */
  streamsOfPerson: 128,
  /**
   * The places that every person gets, if necessary at the expense of the person with most places. Browsers send six
   * requests at once.
   */
  streamsOfNewcomer: 8,
  /** The time until the head of a response. */
  streamHeadTime: 600_000,
  streamHeadSize: 64 * 1024,
  /** The time for the rest of an answer after its token has expired. */
  answerAfterTokenTime: 600_000,
  /** The bytes that a client may send before its WebSocket is open. It should send none. */
  earlyWebSocketSize: 64 * 1024,
  /** The time in which a server can still send after its client has closed its side of a WebSocket. */
  halfClosedTime: 10_000,
  /** The time over which the ends of listening streams are spread while the relay stops. */
  stopListeningTime: 5_000,

  // The configuration file

  configFileSize: 256 * 1024,
  configFileAliases: 100,
  registrations: 100,
  resources: 100,
  frontEnds: 1000,
  /** Paths in the `proxy` of one front end. */
  apisOfFrontEnd: 20,
} as const;

/** The limits above, or a test's own. */
export type Limits = Readonly<Record<keyof typeof limits, number>>;

export const countedLimits = [
  'connections',
  'handshake_time',
  'header_size',
  'request_time',
  'pipelining',
  'chunks',
  'answer_time',
  'provider_calls',
  'rate',
  'refused_exchanges',
] as const;

export type CountedLimit = (typeof countedLimits)[number];
