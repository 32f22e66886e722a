/**
 * What slow, greedy or unlucky clients and providers may take of the relay. Times are in milliseconds,
 * sizes in bytes. docs/operations.md says what happens at each.
 */
export const limits = {
  /** From connecting to the end of the TLS handshake. */
  handshakeTime: 10_000,
  /** From connecting, or from the first byte on a kept connection, to the end of the headers. */
  headersTime: 10_000,
  /** From the same moment to the end of the body. */
  requestTime: 30_000,
  /** Without progress, while a client takes its answer. */
  answerTime: 30_000,
  /** Idle, between two requests: longer than the 120 s after which common balancers hang up. */
  keepAliveTime: 125_000,
  /** For a client that is still sending to read what it was answered. */
  lingerTime: 1_000,
  /** For requests in flight while the relay stops. */
  stopTime: 30_000,
  /** For kept connections to bring another request while the relay stops. */
  stopIdleTime: 500,
  /** The request line and the headers together. */
  headerSize: 16 * 1024,
  /** An authorization code, in characters. */
  codeLength: 4096,
  /** An access token, as UTF-8: a longer one could not come back in the headers of a request. */
  accessTokenSize: 15 * 1024,
  /** The state that a front end gives to the start of a login, in characters. */
  frontEndStateLength: 512,
  /** Calls to the provider that are in flight. */
  providerCalls: 256,
  /** The body of a provider's answer, decompressed. */
  providerAnswerSize: 1024 * 1024,
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

/** The limits that metrics count hits of. */
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

/** The name of a limit, as metrics and the log have it. */
export type CountedLimit = (typeof countedLimits)[number];
