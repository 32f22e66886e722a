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

/** Milliseconds for which a stream is observed. */
const listeningTime = 2_000;
/** Milliseconds between an event and the end of its stream that prove that nothing held the event back. */
const visibleGap = 100;
const mostRead = 64 * 1024;

/** The observed response to a request. */
interface Heard extends Pick<StreamedResponse, 'status' | 'headers'> {
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
 * Calls a server behind the gateway directly: does it answer, and do its events arrive before the end of their stream?
 * Only a server that answers as MCP does gets a POST, because a POST may change something elsewhere.
 *
 * @param address the public address of the resource
 */
export async function checkUpstream(
  context: CheckContext,
  { url }: { readonly url: string },
  address: string,
): Promise<Finding[]> {
  const { ok, notChecked, warning } = findingsOn('upstream');
  const heard = await hear(context, { method: 'GET', url, headers: accepted });
  if ('fix' in heard) {
    return [warning(heard.message, `start it, or correct upstream; ${heard.fix}`)];
  }
  const { status } = heard;
  const ofReach = await checkReach(new URL(url));
  if (status >= 500) return [warning(`does not work now (status ${status})`), ...ofReach];
  if (status === 401 || status === 403) {
    const fix = 'let it trust the identity that the relay adds: a client with a token gets 502 for its 401';
    return [notChecked(`refuses a request without identity (status ${status})`, fix), ...ofReach];
  }
  const streams = await hearStreams(context, url, heard);
  const answers = `answers (status ${status})`;
  if (streams === undefined) return [ok(`${answers}, and sends no event stream`), ...ofReach];
  return [ok(answers), ...judgeStreams(context, streams), ...judgeOlderTransport(streams, url, address), ...ofReach];
}

/**
 * Warns if others than the relay can reach an upstream, which requires no token.
 *
 * @param addresses of this machine, from which others may reach it
 */
export async function checkReach(
  url: URL,
  addresses: readonly string[] = Object.values(networkInterfaces())
    .flatMap((each = []) => each)
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address),
): Promise<Finding[]> {
  const { notChecked, warning } = findingsOn('upstream');
  if (!isLoopback(url)) {
    const fix = 'let only the relay reach it: it asks for no token';
    return [notChecked(`whether others reach ${url.host} without the relay is not known`, fix)];
  }
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const opened = await Promise.all(addresses.map((host) => isOpen(host, port)));
  const reached = addresses.filter((_, index) => opened[index]);
  if (reached.length === 0) return [];
  return [
    warning(
      `something listens on port ${port} of ${reached.join(' and ')}, too: who reaches the upstream there needs no token`,
      'let it listen on 127.0.0.1 only',
    ),
  ];
}

async function isOpen(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  socket.setTimeout(listeningTime, () => resolve(false));
  return await promise.finally(() => socket.destroy());
}

const accepted = { accept: 'application/json, text/event-stream' };

/**
 * Observes possible event streams of an upstream: its first answer and, if it is an MCP server, the answer to
 * `initialize` and the stream of that session. Undefined if it is not known to have any.
 */
async function hearStreams(context: CheckContext, url: string, first: Heard): Promise<readonly Heard[] | undefined> {
  if (first.isLive) return [first];
  const speaksMcp = parseJsonObject(Buffer.from(first.text, 'latin1'))?.['jsonrpc'] === '2.0';
  if (!speaksMcp) return first.isStream ? [first] : undefined;
  const headers = { ...accepted, 'content-type': 'application/json' };
  const started = await hear(context, { method: 'POST', url, headers, body: initialize });
  if ('fix' in started) return [first];
  const session = started.headers['mcp-session-id'];
  if (typeof session !== 'string') return [first, started];
  const named = { 'mcp-session-id': session, 'mcp-protocol-version': protocolVersion };
  const listened = await hear(context, { method: 'GET', url, headers: { ...accepted, ...named } });
  await hear(context, { method: 'DELETE', url, headers: named });
  return 'fix' in listened ? [first, started] : [first, started, listened];
}

/**
 * Says whether events arrive at once, from the upstream and through a proxy, which only a request with a token would
 * show.
 */
function judgeStreams({ config }: CheckContext, streams: readonly Heard[]): Finding[] {
  const { ok, notChecked } = findingsOn('event stream');
  // With TLS of its own, or on this machine only, the relay has no proxy in front.
  const isDirect = config.certificate !== undefined || isLoopback(new URL(config.baseUrl));
  const ofProxy = notChecked(
    'whether a proxy in front of the relay holds events back is not seen without a token',
    'turn its buffering off, as the templates of deploy do, then call a tool that reports progress',
  );
  const further = isDirect ? [] : [ofProxy];
  if (streams.some(({ isLive }) => isLive)) {
    return [ok('an event of the upstream came before its stream ended'), ...further];
  }
  const seen = streams.some(({ isStream }) => isStream)
    ? 'the upstream sent a stream, but no event before its end'
    : 'the upstream sent no event stream';
  const ofUpstream = notChecked(
    `${seen}: whether events arrive at once was not seen`,
    'if a proxy is between relay and upstream, let it buffer nothing',
  );
  return [ofUpstream, ...further];
}

/**
 * Warns if an MCP server of the older transport (SSE) tells clients to post to a path outside the resource: they would
 * send it to the resource's host.
 */
function judgeOlderTransport(streams: readonly Heard[], url: string, address: string): Finding[] {
  const [, told] = streams.flatMap(({ text }) => /^event: ?endpoint\r?\ndata: ?(\S{1,500})/m.exec(text) ?? []);
  const path = told === undefined ? undefined : URL.parse(told, url)?.pathname;
  const withSlash = (one: string) => one.replace(/\/?$/, '/');
  if (path === undefined || withSlash(path).startsWith(withSlash(new URL(address).pathname))) return [];
  return [
    findingsOn('event stream').warning(
      `the upstream is an MCP server of the older transport (SSE): its clients post to ${path.slice(0, 100)}, which is not below the resource`,
      'give it a host of its own: a url and an upstream that end with the host and a slash',
    ),
  ];
}

/** Makes one request, and observes the answer for a moment. */
async function hear(
  context: CheckContext,
  request: Omit<StreamedRequest, 'holder' | 'client'>,
): Promise<Heard | Unreached> {
  const client = new PassThrough();
  const headers = { 'user-agent': userAgent, ...request.headers };
  const holder = { session: '', address: undefined };
  const heard = callOrExplain(context, request.url, async (observe) => {
    const { response } = context.client.stream({ ...request, headers, holder, client }, observe);
    return await listenTo(await response, client);
  });
  // Otherwise, a stream would stay open.
  return await heard.finally(() => client.destroy());
}

/**
 * Reads an answer until it ends, is long, or the time is over. An event stream is live if it is still open a moment
 * after its first whole event, because a proxy that holds events back sends them with the end.
 */
async function listenTo({ status, headers, send }: StreamedResponse, body: Readable): Promise<Heard> {
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
    if (text.length > mostRead) resolve(false);
  });
  body.once('close', () => resolve(false));
  decideLater(listeningTime, false);
  send();
  const isLive = await promise;
  return { status, headers, text, isStream, isLive };
}
