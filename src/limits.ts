/**
 * The limits of connections, messages, calls and the configuration file, by subject. Times are in
 * milliseconds, sizes in bytes, lengths in characters. docs/operations.md says what happens at each.
 */
export const limits = {
  // Connections

  /** A TLS handshake, from the connection on. */
  handshakeTime: 10_000,
  /** The headers of a request, from the connection or from the first byte on a keep-alive connection. */
  headersTime: 10_000,
  /** A whole request, from the moment that the time for its headers begins. An upload to a provider's API takes longest. */
  requestTime: 600_000,
  /** A client that reads its response, without progress. */
  answerTime: 30_000,
  /** A connection without a request. Common balancers close idle connections after 120 s, so be slower. */
  keepAliveTime: 125_000,
  /** A client that still sends after its response is written: the time to read it. */
  lingerTime: 1_000,
  /** Requests in flight while the relay stops. */
  stopTime: 30_000,
  /** Keep-alive connections without a request while the relay stops. */
  stopIdleTime: 500,

  // Requests

  /** The request line and the headers together. */
  headerSize: 16 * 1024,
  /** The request line and the headers if a front end has sessions: a browser sends the cookies of all its sessions with every request. */
  headerSizeWithSessions: 64 * 1024,
  headers: 200,
  /** Requests of one connection that are in the process: one is handled, the others wait for it. */
  requestsOfConnection: 16,
  /** The number of smaller chunks of a body that come together with others. */
  smallChunks: 512,
  smallChunkSize: 64,
  parameters: 100,
  /** The body of a request to the token or the revocation endpoint. */
  requestBodySize: 16 * 1024,
  /** Reading such a body, or one as small for the provider's API. */
  requestBodyTime: 10_000,
  codeLength: 4096,
  /** The front end's own `state`, as UTF-8. */
  frontEndStateSize: 2048,
  /** A sealed request that does not fit into the `state` at the provider: what eight cookies hold. */
  keptRequestLength: 5600,
  /** The URL of the page that a session begins at. */
  returnToLength: 2048,
  loginHintLength: 256,
  /** A code or refresh token of the relay. A token request has room for more. */
  sealedLength: 12 * 1024,
  /** An access token for a resource. Every request to it has one. */
  resourceTokenLength: 6 * 1024,
  /** What a resource is told of a person, as JSON in UTF-8: it fits into such a token. */
  identitySize: 4000,
  proofLength: 4096,
  /** The signed assertion by which a machine proves its key. */
  assertionLength: 4096,

  // Clients that nobody registered

  /** The metadata document of a client, and the fetch of it. */
  documentSize: 5 * 1024,
  documentTime: 3_000,
  /** The identifier that a registration gives. */
  clientIdLength: 4096,
  /** Registrations and fetches of documents of one client address in ten minutes. */
  newClients: 60,

  // Calls to the provider

  /** Calls in flight. */
  providerCalls: 256,
  /** The body of a response, decompressed. */
  providerAnswerSize: 1024 * 1024,
  /** An access token, as UTF-8. A longer one would not fit into the headers of a user lookup. */
  accessTokenSize: 15 * 1024,
  idTokenSize: 15 * 1024,
  /** A refresh token, as UTF-8. A longer one would not fit, sealed, into the body of a refresh. */
  refreshTokenSize: 8 * 1024,
  /** A field of a token answer or of a callback that front ends get besides tokens, as UTF-8 in JSON. */
  extraFieldSize: 512,
  /** The revocation during a logout. */
  logoutTime: 3_000,

  // Requests to the provider's API through the relay

  /** A call, with both bodies. */
  apiCallTime: 600_000,
  /** Calls in flight of one session. */
  apiCallsOfSession: 32,
  /** Calls in flight of one client address. */
  apiCallsOfAddress: 64,
  /** The least that a client lets pass of both bodies in a minute. */
  apiPace: 64 * 1024,
  /** The pace below which a call gives way to others. */
  apiOrdinaryPace: 256 * 1024,
  /** The body of a request. */
  apiRequestSize: 64 * 1024 * 1024,
  /** The body of a response. */
  apiResponseSize: 256 * 1024 * 1024,

  // Requests to servers behind the gateway

  /** Requests in flight, event streams included. */
  streams: 1024,
  /** Requests in flight of one login. */
  streamsOfLogin: 32,
  /** Requests in flight of one client address. */
  streamsOfAddress: 256,
  /** Requests in flight of one person or machine; from half full on, a quarter of the places that are free. */
  streamsOfPerson: 128,
  /** Requests in flight of one person for which another one gives way if there is no place. Browsers send six at once. */
  streamsOfNewcomer: 8,
  /** The time until the head of a response. */
  streamHeadTime: 600_000,
  /** The head of a response. */
  streamHeadSize: 64 * 1024,
  /** What an answer to a request may take after its token has ended. */
  answerAfterTokenTime: 600_000,
  /** The time over which listening streams end while the relay stops. */
  stopListeningTime: 5_000,

  // The configuration file

  configFileSize: 256 * 1024,
  configFileAliases: 100,
  /** The number of providers. */
  registrations: 100,
  resources: 100,
  frontEnds: 1000,
  /** The number of paths in the `proxy` of one front end. */
  apisOfFrontEnd: 20,
} as const;

/** The limits above, or a test's own. */
export type Limits = Readonly<Record<keyof typeof limits, number>>;

/** The limits whose hits are counted in metrics. */
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

/** The name of a limit in metrics and in the log. */
export type CountedLimit = (typeof countedLimits)[number];
