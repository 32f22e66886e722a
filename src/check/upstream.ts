import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { RelayError } from '../failures/relay-error.ts';
import { parseJsonObject } from '../oauth/json.ts';
import type { StreamedRequest, StreamedResponse, UpstreamCall } from '../upstream/messages.ts';
import { isLoopback } from '../urls.ts';
import { userAgent, version } from '../version.ts';
import type { CheckContext } from './context.ts';
import { type Finding, findingsOn } from './finding.ts';
import { explainCall, type Unreached } from './unreached.ts';

/** Milliseconds for which a stream is listened to. */
const listeningTime = 2_000;
/** Milliseconds between an event and the end of its stream after which nothing can have held the event back. */
const visibleGap = 100;
const mostRead = 64 * 1024;

/** What came of a request. */
interface Heard {
  readonly status: number;
  readonly headers: StreamedResponse['headers'];
  /** The bytes of its body, or the first of them. */
  readonly text: string;
  readonly isStream: boolean;
  /** Whether an event came that nothing held back until the end. */
  readonly isLive: boolean;
}

const protocolVersion = '2025-11-25';

/** The first message of MCP. It has no effect but that of a session, which is ended afterwards. */
const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: 'login-relay-check', version },
  },
});

/**
 * Asks a server behind the gateway itself, past the relay: whether it answers, and whether its events come before the
 * end of their stream. Only what answers in the words of MCP is sent a POST, which would act elsewhere.
 */
export async function checkUpstream(
  context: CheckContext,
  { url }: { readonly url: string },
): Promise<Finding[]> {
  const { ok, notChecked, warning } = findingsOn('upstream');
  const heard = await hear(context, { method: 'GET', url, headers: accepting });
  if ('fix' in heard) {
    return [warning(heard.message, `start it, or correct upstream; ${heard.fix}`)];
  }
  const { status } = heard;
  const alone = await checkAlone(new URL(url));
  if (status >= 500) return [warning(`does not work now (status ${status})`), ...alone];
  if (status === 401 || status === 403) {
    const fix = 'let it trust the identity that the relay adds: its 401 reaches clients as 502';
    return [notChecked(`refuses a request without identity (status ${status})`, fix), ...alone];
  }
  const streams = await hearStreams(context, url, heard);
  const answers = `answers (status ${status})`;
  if (streams === undefined) return [ok(`${answers}, and sends no event stream`), ...alone];
  return [ok(answers), ...judgeStreams(context, streams), ...alone];
}

/**
 * Says whether others may reach an upstream, which asks for no token.
 *
 * @param addresses those of this machine that other machines may reach
 */
export async function checkAlone(
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

const accepting = { accept: 'application/json, text/event-stream' };

/** @returns what was heard of its event streams; undefined: it is not known to have any */
async function hearStreams(
  context: CheckContext,
  url: string,
  first: Heard,
): Promise<readonly Heard[] | undefined> {
  if (first.isLive) return [first];
  const speaksMcp = parseJsonObject(Buffer.from(first.text, 'latin1'))?.['jsonrpc'] === '2.0';
  if (!speaksMcp) return first.isStream ? [first] : undefined;
  const headers = { ...accepting, 'content-type': 'application/json' };
  const started = await hear(context, { method: 'POST', url, headers, body: initialize });
  if ('fix' in started) return [first];
  const session = started.headers['mcp-session-id'];
  if (typeof session !== 'string') return [first, started];
  const ofSession = { 'mcp-session-id': session, 'mcp-protocol-version': protocolVersion };
  const listened = await hear(context, {
    method: 'GET',
    url,
    headers: { ...accepting, ...ofSession },
  });
  await hear(context, { method: 'DELETE', url, headers: ofSession });
  return 'fix' in listened ? [first, started] : [first, started, listened];
}

function judgeStreams({ config }: CheckContext, streams: readonly Heard[]): Finding[] {
  const { ok, notChecked } = findingsOn('event stream');
  const isDirect = config.certificate !== undefined || isLoopback(new URL(config.baseUrl));
  const outside = notChecked(
    'whether a proxy in front of the relay holds events back is not seen without a token',
    'turn its buffering off, as the templates of deploy do, then call a tool that reports progress',
  );
  const further = isDirect ? [] : [outside];
  if (streams.some(({ isLive }) => isLive)) {
    return [ok('an event of the upstream came before its stream ended'), ...further];
  }
  const seen = streams.some(({ isStream }) => isStream)
    ? 'the upstream sent a stream, but no event before its end'
    : 'the upstream sent no event stream';
  const inside = notChecked(
    `${seen}: whether events arrive at once was not seen`,
    'if a proxy is between relay and upstream, let it buffer nothing',
  );
  return [inside, ...further];
}

/** Makes one request, and listens to the answer for a moment. */
async function hear(
  context: CheckContext,
  request: Omit<StreamedRequest, 'holder'>,
): Promise<Heard | Unreached> {
  let seen: UpstreamCall | undefined;
  const enough = new AbortController();
  const headers = { 'user-agent': userAgent, ...request.headers };
  const holder = { session: '', address: undefined };
  try {
    const answer = await context.client.stream(
      { ...request, headers, holder, signal: enough.signal },
      (call) => {
        seen = call;
      },
    );
    return await listenTo(answer);
  } catch (error) {
    if (!(error instanceof RelayError) || seen === undefined) throw error;
    return explainCall(new URL(request.url), seen.outcome, seen.error, context);
  } finally {
    enough.abort();
  }
}

async function listenTo({ status, headers, body }: StreamedResponse): Promise<Heard> {
  const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const later = (time: number, isLive: boolean) => {
    setTimeout(resolve, time, isLive).unref();
  };
  let text = '';
  body.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    if (isStream && /\n\r?\n/.test(text)) later(visibleGap, true);
    if (text.length > mostRead) resolve(false);
  });
  body.once('close', () => resolve(false));
  later(listeningTime, false);
  const isLive = await promise;
  return { status, headers, text, isStream, isLive };
}
