import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { PassThrough, type Readable } from 'node:stream';
import { parseJsonObject } from '../oauth/json.ts';
import type { StreamedRequest, StreamedResponse } from '../upstream/messages.ts';
import { isLoopback } from '../urls.ts';
import { userAgent, version } from '../version.ts';
import { callOrExplain } from './answer.ts';
import type { CheckContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';
import type { Unreached } from './unreached.ts';

/** Milliseconds for which a stream is observed, and for which a connection is awaited. */
const observationTime = 2_000;
/** Milliseconds. An event that arrives this long before the end of its stream was not held back by a proxy. */
const visibleGap = 100;
/** Bytes of an answer that are read at most, approximately. */
const maxRead = 64 * 1024;

/** An answer that was observed for a moment. */
interface ObservedAnswer extends Pick<StreamedResponse, 'status' | 'headers'> {
  /** The body, or its beginning, with a character for each byte. */
  readonly text: string;
  readonly isStream: boolean;
  /** Whether an event arrived before the end of the stream. */
  readonly isLive: boolean;
}

const protocolVersion = '2025-11-25';
// The first message of MCP only opens a session, which is ended afterwards.
const clientInfo = { name: 'login-relay-check', version };
const params = { protocolVersion, capabilities: {}, clientInfo };
const initialize = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }));

/**
 * Calls a server behind the gateway directly, to see whether it answers, and whether its events arrive before their
 * stream ends. Only a server that answers as MCP does gets a POST, because a POST may change something elsewhere.
 *
 * @param address the public address of the resource
 * @param isForBrowsers whether people open the resource, so that nothing works without the server
 */
export async function checkUpstream(
  context: CheckContext,
  { url }: { readonly url: string },
  address: string,
  isForBrowsers: boolean,
): Promise<Finding[]> {
  const { ok, notChecked, problem, warning } = findingsOn('upstream');
  const answer = await observeAnswer(context, { method: 'GET', url, headers: acceptHeaders });
  if ('fix' in answer) {
    const judge = isForBrowsers ? problem : warning;
    return [judge(answer.message, `start it, or correct upstream; ${answer.fix}`)];
  }
  const { status } = answer;
  const ofReach = await checkReach(new URL(url));
  if (status >= 500) return [warning(`does not work now (status ${status})`), ...ofReach];
  if (status === 401 || status === 403) {
    const fix = 'let it trust the identity that the relay adds: a client with a token gets 502 for its 401';
    return [notChecked(`refuses a request without identity (status ${status})`, fix), ...ofReach];
  }
  const streams = await observeStreams(context, url, answer);
  const message = `answers (status ${status})`;
  if (streams === undefined) return [ok(`${message}, and sends no event stream`), ...ofReach];
  return [ok(message), ...judgeStreams(context, streams), ...judgeOlderTransport(streams, url, address), ...ofReach];
}

/**
 * Warns if others than the relay can reach an upstream, which requires no token.
 *
 * @param addresses the addresses of this machine at which others may reach it
 */
export async function checkReach(url: URL, addresses = findOwnAddresses()): Promise<Finding[]> {
  const { notChecked, warning } = findingsOn('upstream past the relay');
  if (!isLoopback(url)) {
    const fix = 'let only the relay reach it: it asks for no token';
    return [notChecked(`whether others reach ${url.host} without the relay is not known`, fix)];
  }
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const canBeReached = await Promise.all(addresses.map((host) => canConnect(host, port)));
  const reached = addresses.filter((_, index) => canBeReached[index]);
  if (reached.length === 0) return [];
  return [
    warning(
      `something listens on port ${port} of ${reached.join(' and ')} as well: who reaches the upstream there needs no token`,
      'let it listen on 127.0.0.1 only',
    ),
  ];
}

/** The addresses of this machine in its networks, without those that only its own programs or links can use. */
function findOwnAddresses(): readonly string[] {
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  return interfaces
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address);
}

/** Whether something accepts a connection at a port within `observationTime`. */
async function canConnect(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  socket.setTimeout(observationTime, () => resolve(false));
  return await promise.finally(() => socket.destroy());
}

const acceptHeaders = { accept: 'application/json, text/event-stream' };

/**
 * Observes possible event streams of an upstream: its first answer and, if it is an MCP server, the answer to
 * `initialize` and the stream of that session.
 *
 * @returns undefined if the upstream shows no stream and is no MCP server
 */
async function observeStreams(
  context: CheckContext,
  url: string,
  first: ObservedAnswer,
): Promise<readonly ObservedAnswer[] | undefined> {
  if (first.isLive) return [first];
  const speaksMcp = parseJsonObject(Buffer.from(first.text, 'latin1'))?.['jsonrpc'] === '2.0';
  if (!speaksMcp) return first.isStream ? [first] : undefined;
  const headers = { ...acceptHeaders, 'content-type': 'application/json' };
  const started = await observeAnswer(context, { method: 'POST', url, headers, body: initialize });
  if ('fix' in started) return [first];
  const session = started.headers['mcp-session-id'];
  if (typeof session !== 'string') return [first, started];
  const sessionHeaders = { 'mcp-session-id': session, 'mcp-protocol-version': protocolVersion };
  const ofSession = await observeAnswer(context, {
    method: 'GET',
    url,
    headers: { ...acceptHeaders, ...sessionHeaders },
  });
  await observeAnswer(context, { method: 'DELETE', url, headers: sessionHeaders });
  return 'fix' in ofSession ? [first, started] : [first, started, ofSession];
}

/**
 * Says whether events of the upstream arrive at once. Only a request with a token would show whether a proxy in front of
 * the relay holds them back.
 */
function judgeStreams({ config }: CheckContext, streams: readonly ObservedAnswer[]): Finding[] {
  const { ok, notChecked } = findingsOn('event stream');
  // A relay with its own TLS, or for this machine only, has no proxy in front.
  const isDirect = config.certificate !== undefined || isLoopback(new URL(config.baseUrl));
  const ofProxy = notChecked(
    'whether a proxy in front of the relay holds events back is not seen without a token',
    'turn its buffering off, as the templates of deploy do, then call a tool that reports progress',
  );
  const findingsOnProxy = isDirect ? [] : [ofProxy];
  if (streams.some(({ isLive }) => isLive)) {
    return [ok('an event of the upstream came before its stream ended'), ...findingsOnProxy];
  }
  const observed = streams.some(({ isStream }) => isStream)
    ? 'the upstream sent a stream, but no event before its end'
    : 'the upstream sent no event stream';
  const ofUpstream = notChecked(
    `${observed}: whether events arrive at once was not seen`,
    'if a proxy is between relay and upstream, let it buffer nothing',
  );
  return [ofUpstream, ...findingsOnProxy];
}

/**
 * Warns if an MCP server of the older transport (SSE) tells its clients to post to a path outside the resource. The
 * gateway does not pass such requests on.
 */
function judgeOlderTransport(streams: readonly ObservedAnswer[], url: string, address: string): Finding[] {
  const [, endpoint] = streams.flatMap(({ text }) => /^event: ?endpoint\r?\ndata: ?(\S{1,500})/m.exec(text) ?? []);
  const path = endpoint === undefined ? undefined : URL.parse(endpoint, url)?.pathname;
  const withSlash = (text: string) => text.replace(/\/?$/, '/');
  if (path === undefined || withSlash(path).startsWith(withSlash(new URL(address).pathname))) return [];
  return [
    findingsOn('MCP transport').warning(
      `the upstream is an MCP server of the older transport (SSE): its clients post to ${path.slice(0, 100)}, which is not below the resource`,
      'give it a host of its own: a url and an upstream that end with the host and a slash',
    ),
  ];
}

/** Makes one request, and observes the answer for a moment. */
async function observeAnswer(
  context: CheckContext,
  request: Omit<StreamedRequest, 'holder' | 'client'>,
): Promise<ObservedAnswer | Unreached> {
  const client = new PassThrough();
  const headers = { 'user-agent': userAgent, ...request.headers };
  const holder = { session: '', address: undefined };
  const observation = callOrExplain(context, request.url, async (observe) => {
    const { response } = context.client.stream({ ...request, headers, holder, client }, observe);
    return await readForAMoment(await response, client);
  });
  // An event stream would otherwise stay open.
  return await observation.finally(() => client.destroy());
}

/**
 * Reads an answer until it ends, is long, or the time is over. An event stream is live if it is still open a moment
 * after its first whole event, because a proxy that holds events back sends them with the end.
 */
async function readForAMoment({ status, headers, send }: StreamedResponse, body: Readable): Promise<ObservedAnswer> {
  const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  // Only the first call of `resolve` counts.
  const decideLater = (time: number, isLive: boolean) => {
    setTimeout(resolve, time, isLive).unref();
  };
  let text = '';
  body.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    if (isStream && /\n\r?\n/.test(text)) decideLater(visibleGap, true);
    if (text.length > maxRead) resolve(false);
  });
  body.once('close', () => resolve(false));
  decideLater(observationTime, false);
  send();
  const isLive = await promise;
  return { status, headers, text, isStream, isLive };
}
