import type { ListeningServer } from '../../../../src/server/server.ts';
import { type DoorRelay, wiki } from '../../../browsers/support/door-relay.ts';
import { json } from '../../../harness/provider/provider-behaviours.ts';
import { baseUrl } from '../../../harness/relay/relay.ts';
import { tokenOf } from '../../../resources/support/machines-relay.ts';
import { ada } from '../../../resources/support/resources-relay.ts';
import { listenFor } from '../../../resources/support/websocket-relay.ts';
import { type Door, Exchanges, nowhere } from './exchanges.ts';

const notes = 'https://notes.example.com/mcp';
const secrets = { attacker: 'the secret of attacker, of 32 characters', honest: 'the secret of honest, of thirty-two' };

/** The relay at a port of its own, in front of a server that records what it gets. */
export class Rig extends Exchanges {
  /** The doors for programs and for browsers. */
  doors: { readonly token: Door; readonly cookie: Door } = { token: nowhere, cookie: nowhere };
  readonly #relay: () => DoorRelay;
  #server: ListeningServer | undefined;

  constructor(relay: () => DoorRelay) {
    super();
    this.#relay = relay;
  }

  get port(): number {
    return Number(new URL(this.#server?.address ?? 'http://127.0.0.1').port);
  }

  /** The requests that the relay has not answered. */
  get inFlight(): number {
    return this.#server?.requestsInFlight() ?? 0;
  }

  async start(): Promise<void> {
    await this.upstream.start();
    const relay = this.#relay();
    const to = `upstream: 'http://127.0.0.1:${this.upstream.port}`;
    await relay.restart({
      relay: `trusted-proxies: [127.0.0.1]
resources:
  notes: { url: ${notes}, ${to}/mcp' }
  wiki: { url: ${wiki}/, ${to}/', browser: true }
`,
      frontEnds: Object.keys(secrets)
        .map((name) => `  ${name}: { kind: machine, secret-file: ./${name}, resources: [notes] }\n`)
        .join(''),
      files: Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [`./${name}`, secret])),
    });
    relay.provider.knows(json(ada));
    // The requests of the test itself go to the login's host.
    relay.intercept = ({ headers }) => {
      if (headers.host === `127.0.0.1:${relay.port}`) headers.host = new URL(baseUrl).host;
      return false;
    };
    const opens = async (name: keyof typeof secrets): Promise<Door> => {
      const token = await tokenOf(relay, { client_id: name, client_secret: secrets[name] });
      const { host, pathname: path } = new URL(notes);
      return { host, path, credentials: [`Authorization: Bearer ${token}`], user: `machine:${name}` };
    };
    this.honest = await opens('honest');
    const person = relay.person(relay.port);
    await person.visit(`${wiki}/`);
    const { host } = new URL(wiki);
    const cookies = [...person.cookies(wiki)].map((pair) => pair.join('='));
    const credentials = [`Cookie: ${cookies.join('; ')}`, `Origin: ${wiki}`, 'Sec-Fetch-Site: same-origin'];
    this.doors = { token: await opens('attacker'), cookie: { host, path: '', credentials, user: ada.sub } };
    this.#server = await listenFor(relay, { stopTime: 100 });
    this.upstream.forget();
  }

  async stop(): Promise<void> {
    await this.#server?.close();
    await this.upstream.stop();
  }
}
