import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http';
import { expect } from 'chai';
import type { Answer } from '../../harness/client/http-client.ts';
import { SessionPage, sessionOrigin } from '../../harness/login/session-page.ts';
import type { RefreshingProvider } from '../../harness/provider/refreshing-provider.ts';
import { serve } from '../../harness/provider/serve.ts';
import { useRefreshingRelay } from '../../harness/relay/refreshing-relay.ts';
import type { Flags, LogLine } from '../../harness/relay/relay-process.ts';
import { baseUrl, keyFile, type Relay, secretFile } from '../../harness/relay/relay-under-test.ts';
import { startedOnce } from '../../harness/system/started-once.ts';

/** The path of the relay that leads to the API. */
export const apiPath = '/api/github/';

const empty: RequestListener = (_request, response) => void response.end();

type UnderTest = ReturnType<typeof useRefreshingRelay>['underTest'];

/** An API, a relay, and a page that uses the API through the relay. */
class RelayedApi {
  /** The requests to the API since the test began. */
  readonly requests: IncomingMessage[] = [];
  /** The API's answer; an empty 200 at the beginning of each test. */
  answer = empty;
  readonly #underTest: UnderTest;
  #page: SessionPage | undefined;

  constructor(underTest: UnderTest) {
    this.#underTest = underTest;
    before('the page logs in', async () => {
      this.#page = new SessionPage(() => this.relay, this.provider);
      await this.page.logIn();
    });
    beforeEach(() => {
      this.answer = empty;
      this.requests.length = 0;
    });
  }

  get relay(): Relay {
    return this.#underTest().relay;
  }

  get provider(): RefreshingProvider {
    return this.#underTest().provider;
  }

  get page(): SessionPage {
    if (this.#page === undefined) throw new Error('the page has not logged in');
    return this.#page;
  }

  /** The only request that the API got. */
  only(): IncomingMessage {
    const [only, ...others] = this.requests;
    expect(others).to.be.empty;
    if (only === undefined) throw new Error('the API got no request');
    return only;
  }

  /** Sends a request of the page below the path. */
  send(rest: string, method = 'GET', headers: [string, string][] = []): Promise<Answer> {
    return this.page.send(apiPath + rest, method, { headers });
  }

  /** Opens a request of the page below the path, whose bodies the test streams. */
  open(rest: string, method: string, headers: Record<string, string> = {}): ClientRequest {
    const { cookie } = this.page;
    const own = { Host: new URL(baseUrl).host, Origin: sessionOrigin, Cookie: cookie };
    return httpRequest({
      host: '127.0.0.1',
      port: this.relay.port,
      path: apiPath + rest,
      method,
      agent: false,
      headers: { ...own, 'X-Login-Relay': '1', ...headers },
    });
  }

  /** The first line in the log about a request with this outcome. */
  lineOf(outcome: string): Promise<LogLine> {
    return this.relay.process.logLine((line) => line['route'] === 'proxy' && line['outcome'] === outcome);
  }
}

/** One API, relay and page for the enclosing `describe`, with these further flags of the relay. */
export function useRelayedApi(more: Flags = {}): RelayedApi {
  const server = startedOnce(
    'the API',
    () =>
      serve((request, response) => {
        api.requests.push(request);
        api.answer(request, response);
      }),
    (one) => one.close(),
  );
  const { underTest } = useRefreshingRelay(async () => {
    const config = await secretFile(`front-ends:
  app:
    origin: ${sessionOrigin}
    token-delivery: session
    proxy:
      - path: ${apiPath}
        url: http://127.0.0.1:${server().port}/v3/
        methods: [GET, HEAD, POST, PUT, PATCH, DELETE]
`);
    return { origin: undefined, config, 'key-file': await keyFile(), ...more };
  });
  const api = new RelayedApi(underTest);
  return api;
}
