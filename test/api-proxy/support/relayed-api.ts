import {
  type ClientRequest,
  request as httpRequest,
  type IncomingHttpHeaders,
  type RequestListener,
} from 'node:http';
import { expect } from 'chai';
import type { Answer } from '../../harness/client/http-client.ts';
import { expectNoneRemembered } from '../../harness/expect/canaries.ts';
import { SessionPage, sessionFlags, sessionOrigin } from '../../harness/login/session-page.ts';
import { RefreshingProvider } from '../../harness/provider/refreshing-provider.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import type { LogLine } from '../../harness/relay/relay-process.ts';
import {
  baseUrl,
  type Relay,
  secretFile,
  startRelayWith,
} from '../../harness/relay/relay-under-test.ts';

/** The path of the relay that leads to the API. */
export const apiPath = '/api/github/';

/** A request that the API got. */
interface ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** A relay through which a page uses an API. */
export interface RelayedApi {
  readonly relay: Relay;
  readonly provider: RefreshingProvider;
  /** A page that is logged in. */
  readonly page: SessionPage;
  /** What the API got since the test began. */
  readonly requests: readonly ApiRequest[];
  /** The API's answer; an empty 200 at the beginning of each test. */
  answer: RequestListener;
  /** The only request that the API got. */
  only(): ApiRequest;
  /** Sends a request of the page below the path. */
  send(rest: string, method?: string, headers?: [string, string][]): Promise<Answer>;
  /** Opens a request of the page below the path, whose bodies the test streams. */
  open(rest: string, method: string, headers?: Record<string, string>): ClientRequest;
  /** The first line in the log about a request with this outcome. */
  lineOf(outcome: string): Promise<LogLine>;
}

/**
 * One relay and one API for the enclosing `describe`.
 *
 * @param entry further settings of the `proxy` entry, in the form of YAML flow maps
 * @param flags further flags
 */
export function relayedApi(entry = '', flags: Readonly<Record<string, string>> = {}): RelayedApi {
  const requests: ApiRequest[] = [];
  let relay: Relay | undefined;
  let provider: RefreshingProvider | undefined;
  let api: Serving | undefined;
  let page: SessionPage | undefined;
  const state = { answer: empty };

  before('start an API, its provider and a relay; log in', async () => {
    provider = await RefreshingProvider.start();
    api = await serve((request, response) => {
      const { method = '', url = '', headers } = request;
      requests.push({ method, url, headers });
      state.answer(request, response);
    });
    const running = await startRelayWith(await configOf(provider, api.port, entry), flags);
    relay = running;
    page = new SessionPage(() => running, provider);
    await page.logIn();
  });
  beforeEach(() => {
    state.answer = empty;
    requests.length = 0;
    provider?.forget();
  });
  after('stop them; nothing secret is in the log', async () => {
    await relay?.stop();
    await provider?.stop();
    await api?.close();
    if (relay) expectNoneRemembered(relay.process.stdout + relay.process.stderr);
  });

  const started = <Value>(value: Value | undefined): Value => {
    if (value === undefined) throw new Error('not started');
    return value;
  };
  return {
    get relay() {
      return started(relay);
    },
    get provider() {
      return started(provider);
    },
    get page() {
      return started(page);
    },
    requests,
    get answer() {
      return state.answer;
    },
    set answer(answer) {
      state.answer = answer;
    },
    only() {
      expect(requests).to.have.length(1);
      return started(requests[0]);
    },
    send: (rest, method = 'GET', headers = []) =>
      started(page).send(apiPath + rest, method, { headers }),
    open: (rest, method, headers = {}) =>
      httpRequest({
        host: '127.0.0.1',
        port: started(relay).port,
        path: apiPath + rest,
        method,
        agent: false,
        headers: {
          Host: new URL(baseUrl).host,
          Origin: sessionOrigin,
          'X-Login-Relay': '1',
          Cookie: started(page).cookie,
          ...headers,
        },
      }),
    lineOf: (outcome) =>
      started(relay).process.logLine(
        (line) => line['route'] === 'proxy' && line['outcome'] === outcome,
      ),
  };
}

const empty: RequestListener = (_request, response) => {
  response.end();
};

async function configOf(
  { registration, flags }: RefreshingProvider,
  port: number,
  entry: string,
): Promise<string> {
  const own = await sessionFlags();
  const settings = Object.entries(flags).map(([name, value]) => `    ${name}: ${value}`);
  return `base-url: ${baseUrl}
port: 0
key-file: ${own['key-file']}
providers:
  provider:
    client-id: ${registration.clientId}
    client-secret-file: ${await secretFile(registration.clientSecret)}
${settings.join('\n')}
front-ends:
  app:
    origin: ${sessionOrigin}
    token-delivery: session
    proxy:
      - { path: ${apiPath}, url: "http://127.0.0.1:${port}/v3/", methods: [GET, HEAD, POST, PUT, PATCH, DELETE]${entry} }
`;
}
