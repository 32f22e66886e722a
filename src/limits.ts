/**
 * Every limit. Times are in milliseconds, sizes in bytes. docs/operations.md says what happens at each.
 */
export const limits = {
  /** From the connection to the end of the TLS handshake. */
  handshakeTime: 10_000,
  /** From the connection, or from the first byte on a keep-alive connection, to the end of the headers. */
  headersTime: 10_000,
  /** From the same moment to the end of the body: an upload to a provider's API is the longest. */
  requestTime: 600_000,
  /** For the body of a request to the token or the revocation endpoint, and for one as small to the provider's API. */
  requestBodyTime: 10_000,
  /** Without progress while a client reads its response. */
  answerTime: 30_000,
  /** Idle between two requests. Common balancers close idle connections after 120 s, so be slower. */
  keepAliveTime: 125_000,
  /** For a client that is still sending to read its response. */
  lingerTime: 1_000,
  /** For requests in flight while the relay stops. */
  stopTime: 30_000,
  /** For keep-alive connections to send another request while the relay stops. */
  stopIdleTime: 500,
  /** For the revocation at the provider while a session is logged out. */
  logoutTime: 3_000,
  /** A call to the provider's API through the relay, with both bodies. */
  apiCallTime: 600_000,
  /** The request line and the headers together. */
  headerSize: 16 * 1024,
  /** The same if a front end has sessions: a browser sends the cookies of all its sessions with every request. */
  headerSizeWithSessions: 64 * 1024,
  /** Headers of a request. */
  headers: 200,
  /** An authorization code, in characters. */
  codeLength: 4096,
  /** An access token, as UTF-8. A longer one would not fit into the headers of a user lookup. */
  accessTokenSize: 15 * 1024,
  /** A refresh token, as UTF-8. A longer one would not fit, sealed, into the body of a refresh. */
  refreshTokenSize: 8 * 1024,
  /** Parameters of a query or a form. */
  parameters: 100,
  /** The front end's own `state`, in characters. */
  frontEndStateLength: 512,
  /** The page that a login of a session returns to, in characters of its URL. */
  returnToLength: 2048,
  /** A code or refresh token of the relay, in characters. A token request has room for more. */
  sealedLength: 12 * 1024,
  /** A DPoP proof, in characters. */
  proofLength: 4096,
  /** Calls to the provider in flight. */
  providerCalls: 256,
  /** The body of a request to the token or the revocation endpoint. */
  requestBodySize: 16 * 1024,
  /** The body of a provider's answer, decompressed. */
  providerAnswerSize: 1024 * 1024,
  /** Calls to providers' APIs in flight, of one session. */
  apiCallsOfSession: 32,
  /** The same of one client address. */
  apiCallsOfAddress: 64,
  /** What a client must let pass of the bodies of a call to an API, in a minute. */
  apiPace: 64 * 1024,
  /** The same, below which it gives way to others. */
  apiOrdinaryPace: 256 * 1024,
  /** The body of a request to the provider's API. */
  apiRequestSize: 64 * 1024 * 1024,
  /** The body of a response of the provider's API. */
  apiResponseSize: 256 * 1024 * 1024,
  /** Paths of the provider's API for one front end. */
  apisOfFrontEnd: 20,
  /** The configuration file. */
  configFileSize: 256 * 1024,
  /** Aliases (`*name`) in the configuration file. */
  configFileAliases: 100,
  /** Providers in the configuration file. */
  registrations: 100,
  /** Front ends in the configuration file. */
  frontEnds: 1000,
} as const;

/** The limits of a listening server. */
export type ServerLimits = Readonly<
  Record<
    | 'handshakeTime'
    | 'headersTime'
    | 'requestTime'
    | 'answerTime'
    | 'keepAliveTime'
    | 'stopTime'
    | 'stopIdleTime'
    | 'headerSize',
    number
  >
>;

/** The limits whose hits are counted in metrics. */
export const countedLimits = [
  'connections',
  'handshake_time',
  'header_size',
  'request_time',
  'answer_time',
  'provider_calls',
  'rate',
  'refused_exchanges',
] as const;

/** The name of a limit in metrics and in the log. */
export type CountedLimit = (typeof countedLimits)[number];
