import type { IncomingMessage, RequestListener } from 'node:http';
import { ClientsRelay } from '../../clients/support/clients-relay.ts';
import type { Answer, Sending } from '../../harness/client/request.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { baseUrl } from '../../harness/relay/relay.ts';
import { relayOfFile, type Settings } from '../../harness/relay/relay-of-file.ts';
import { ada, bearer, logIn, type Tokens, tokensOf } from './resources-relay.ts';

/** The identifiers of resources with servers behind them, at hosts of their own and at the login's. */
export const urls = {
  notes: 'https://notes.example.com/mcp',
  files: `${new URL(baseUrl).origin}/files/`,
  giving: 'https://notes.example.com/giving',
} as const;
export type Name = keyof typeof urls;

const empty: RequestListener = (_, response) => void response.end();

/** A relay in front of one server, which the test plays. */
export class GatewayRelay extends ClientsRelay {
  /** The requests to the server since the test began. */
  readonly requests: IncomingMessage[] = [];
  /** The answer of the server; an empty 200 at the beginning of each test. */
  answer = empty;
  /** The port of the server. */
  upstreamPort = 0;
  surroundings: Settings['surroundings'];

  /** @param changes rows of resources; an empty row removes the resource */
  settings(changes: Readonly<Record<string, string>> = {}, port = this.upstreamPort): Settings {
    const rows = {
      notes: `{ url: ${urls.notes}, upstream: http://127.0.0.1:${port}/mcp, identity: [email, groups], scope: 'notes:read' }`,
      files: `{ url: ${urls.files}, upstream: http://127.0.0.1:${port}/v1/files/, lifetime: 5 }`,
      giving: `{ url: ${urls.giving}, upstream: http://127.0.0.1:${port}/giving, token: provider }`,
      ...changes,
    };
    const resources = Object.entries(rows)
      .filter(([, row]) => row !== '')
      .map((row) => `  ${row.join(': ')}\n`);
    return {
      relay: `resources:\n${resources.join('')}`,
      frontEnds: `  app: { origin: https://app.example, token-delivery: code, refresh-tokens: bearer, resources: [${Object.keys(
        rows,
      )
        .filter((name) => rows[name as Name])
        .join(', ')}] }\n`,
      ...(this.surroundings && { surroundings: this.surroundings }),
    };
  }

  /** The settings with an `allow`: rows of resources, and lines of the front end `app` and of the provider. */
  allowing({ app, provider, ...rows }: Readonly<Record<string, string>>): Settings {
    const { frontEnds, ...settings } = this.settings(rows);
    const open = '  app: { ';
    return {
      ...settings,
      frontEnds: app ? frontEnds.replace(open, `${open}${app}, `) : frontEnds,
      ...(provider && { provider }),
    };
  }

  async tokens(name: Name = 'notes'): Promise<Tokens> {
    const changes = {
      client_id: 'app',
      redirect_uri: 'https://app.example/',
      resource: urls[name],
    };
    return tokensOf(await logIn(this, changes));
  }

  /** Sends a request to the address of a resource. */
  async use(name: Name, token: string, sending: Partial<Sending> = {}): Promise<Answer> {
    const { host, pathname } = new URL(urls[name]);
    const headers = [bearer(token), ...(sending.headers ?? [])];
    return await this.send({ path: pathname, authority: host, ...sending, headers });
  }
}

/** One relay in front of a server for the enclosing `describe`, with these surroundings. */
export function gatewayRelay(surroundings?: Settings['surroundings']): () => GatewayRelay {
  let server: Serving;
  const relay = relayOfFile(async () => {
    const one = await GatewayRelay.listen<GatewayRelay>();
    server = await serve((request, response) => {
      one.requests.push(request);
      one.answer(request, response);
    });
    one.upstreamPort = server.port;
    // As a proxy that keeps the names.
    one.intercept = ({ headers }) => {
      if (headers.host === `127.0.0.1:${one.port}`) headers.host = new URL(baseUrl).host;
      return false;
    };
    one.surroundings = surroundings;
    await one.restart(one.settings());
    return one;
  });
  beforeEach(() => {
    relay().answer = empty;
    relay().requests.length = 0;
    relay().provider.knows(json(ada));
  });
  after(async () => await server.close());
  return relay;
}
