import { writeFile } from 'node:fs/promises';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { DoorBrowser, wiki } from '../../../browsers/support/door-relay.ts';
import { send } from '../../../harness/client/http-client.ts';
import { json } from '../../../harness/provider/provider-behaviours.ts';
import { RefreshingProvider } from '../../../harness/provider/refreshing-provider.ts';
import { type LogLine, RelayProcess } from '../../../harness/relay/relay-process.ts';
import { baseUrl, keyFile, secretFile } from '../../../harness/relay/relay-under-test.ts';
import { eventually } from '../../../harness/system/eventually.ts';
import { freePort } from '../../../harness/system/free-port.ts';
import { BusyApplication } from './busy-application.ts';
import type { Place } from './listeners.ts';

const supervisor = fileURLToPath(new URL('../../../harness/relay/supervise.sh', import.meta.url));
const ada = { sub: '42', preferred_username: 'ada', email: 'ada@example.com', email_verified: true };
const secret = 'the secret of a machine, of 32 characters';
const machines = Array.from({ length: 10 }, (_, n) => `machine-${n}`);

/** The resources: two for programs, one for browsers. */
export type Name = 'notes' | 'other' | 'wiki';
const urls: Readonly<Record<Name, string>> = {
  notes: 'https://notes.example.com/mcp',
  other: 'https://other.example.com/tool',
  wiki: `${wiki}/`,
};

/** The outcome of a request: its status, or the error of its connection. */
export interface Outcome {
  readonly id: string;
  readonly name: Name;
  readonly begun: number;
  /**
   * `200` with its own answer, or `stale` if it was sent on a kept connection that had just been closed. No server can
   * prevent that, and HTTP clients repeat such a GET.
   */
  readonly result: string;
}

/** A relay on a socket that systemd holds, in front of an application, with programs and a person who use it. */
export class BusySite {
  readonly application: BusyApplication;
  readonly port: number;
  readonly #provider: RefreshingProvider;
  readonly #process: RelayProcess;
  readonly #config: string;
  /** The text of the configuration, in which rows of resources replace the ordinary rows. */
  readonly #textWith: (rows: Rows) => string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });
  /** The headers that open each resource, of each machine or of the person. */
  readonly #openers = new Map<Name, readonly Readonly<Record<string, string>>[]>();

  static async start(): Promise<BusySite> {
    const application = await BusyApplication.start();
    const provider = await RefreshingProvider.start();
    provider.knows(json(ada));
    const port = await freePort();
    const textWith = configOf(application.port, await secretFile(secret));
    const config = await secretFile(textWith({}));
    const { clientId, clientSecret } = provider.registration;
    const relay = new RelayProcess({
      launcher: ['systemd-socket-activate', '--listen', `127.0.0.1:${port}`, supervisor],
      flags: {
        ...provider.flags,
        config,
        'base-url': baseUrl,
        'client-id': clientId,
        'client-secret-file': await secretFile(clientSecret),
        'key-file': await keyFile(),
      },
    });
    const site = new BusySite(application, provider, relay, port, config, textWith);
    await eventually(() => site.#ask('/healthz'));
    await site.#enter();
    return site;
  }

  private constructor(
    application: BusyApplication,
    provider: RefreshingProvider,
    process: RelayProcess,
    port: number,
    config: string,
    textWith: (rows: Rows) => string,
  ) {
    this.application = application;
    this.port = port;
    this.#provider = provider;
    this.#process = process;
    this.#config = config;
    this.#textWith = textWith;
  }

  /** Ends everything at once. */
  async stop(): Promise<void> {
    this.#agent.destroy();
    const ended = this.#process.stop('SIGKILL');
    this.signal('SIGKILL');
    await ended;
    await this.application.stop();
    await this.#provider.stop();
  }

  /** Sends a signal to the relay that runs now. */
  signal(signal: NodeJS.Signals): void {
    const [pid] = this.#process.logLines.flatMap((line) => (line['pid'] ? [Number(line['pid'])] : [])).slice(-1);
    if (pid !== undefined) process.kill(pid, signal);
  }

  /** Ends the relay. Resolves when the next one listens. */
  async restart(signal: NodeJS.Signals): Promise<void> {
    await this.#awaitLine(({ msg }) => msg === 'listening', signal);
  }

  /**
   * Reloads.
   *
   * @param rows undefined if the file does not change
   * @returns the line of the log about it
   */
  async reload(rows?: Rows): Promise<LogLine> {
    if (rows !== undefined) await writeFile(this.#config, this.#textWith(rows));
    return await this.#awaitLine(({ msg }) => /^(not )?reloaded/.test(`${msg}`), 'SIGHUP');
  }

  /** Sends a signal. Resolves with the next line of the log that matches. */
  async #awaitLine(matches: (line: LogLine) => boolean, signal: NodeJS.Signals): Promise<LogLine> {
    const lines = () => this.#process.logLines.filter(matches);
    const before = lines().length;
    this.signal(signal);
    return await this.#process.output(() => lines()[before]);
  }

  /** Where somebody listens at a resource. @param index chooses the machine */
  place(name: Name, index: number): Place {
    const { host, pathname } = new URL(urls[name]);
    const openers = this.#openers.get(name) ?? [];
    return { host, path: pathname, headers: openers[index % openers.length] ?? {} };
  }

  /** Sends a request with its own identifier, to each resource in turn, by GET and POST; some by GET on kept connections. */
  async request(index: number): Promise<Outcome> {
    const name = (['notes', 'other', 'wiki'] as const)[index % 3] ?? 'notes';
    const { host, path, headers } = this.place(name, index);
    const id = `request-${index}`;
    const begun = performance.now();
    const method = index % 2 === 0 ? 'POST' : 'GET';
    const agent = method === 'GET' && index % 5 === 0 ? this.#agent : false;
    const result = await new Promise<string>((resolve) => {
      const sent = httpRequest({
        host: '127.0.0.1',
        port: this.port,
        method,
        agent,
        path: `${path.replace(/\/$/, '')}/${id}`,
        headers: { ...headers, Host: host, ...(method === 'POST' && { 'Content-Length': 4 }) },
      });
      sent.on('error', (error) => resolve(sent.reusedSocket ? 'stale' : `${Object(error).code}`));
      sent.on('response', (response: IncomingMessage) => {
        const answer = text(response);
        answer.then(
          (body) => resolve(response.statusCode === 200 && body !== id ? 'a wrong answer' : `${response.statusCode}`),
          (error) => resolve(`${Object(error).code}`),
        );
      });
      sent.end(method === 'POST' ? 'body' : undefined);
    });
    return { id, name, begun, result };
  }

  async #ask(path: string, form = ''): Promise<string> {
    const headers: [string, string][] = [
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['Content-Length', `${form.length}`],
    ];
    const to = { path, authority: new URL(baseUrl).host };
    const sending = form === '' ? to : { ...to, method: 'POST', headers, body: form };
    return `${(await send(this.port, sending)).body}`;
  }

  /** Gets the tokens of the machines, and the cookie of the person. */
  async #enter(): Promise<void> {
    for (const name of ['notes', 'other'] as const) {
      const openers = machines.map(async (machine) => {
        const form = { grant_type: 'client_credentials', client_id: machine, client_secret: secret };
        const answer = await this.#ask(
          '/auth/provider/token',
          `${new URLSearchParams({ ...form, resource: urls[name] })}`,
        );
        return { Authorization: `Bearer ${JSON.parse(answer).access_token}` };
      });
      this.#openers.set(name, await Promise.all(openers));
    }
    const site = { address: baseUrl, port: this.port, provider: this.#provider };
    const person = new DoorBrowser(site, this.port);
    await person.visit(urls.wiki);
    const cookie = [...person.cookies(wiki)].map((pair) => pair.join('=')).join('; ');
    this.#openers.set('wiki', [{ Cookie: cookie, Origin: wiki, 'Sec-Fetch-Site': 'same-origin' }]);
  }
}

type Rows = Partial<Readonly<Record<Name, string>>>;

/** @returns writes the configuration. An empty row removes the resource */
function configOf(port: number, secretFile: string): (rows: Rows) => string {
  return (rows) => {
    const all = {
      notes: `{ url: '${urls.notes}', upstream: 'http://127.0.0.1:${port}/mcp' }`,
      other: `{ url: '${urls.other}', upstream: 'http://127.0.0.1:${port}/tool' }`,
      wiki: `{ url: '${urls.wiki}', upstream: 'http://127.0.0.1:${port}/', browser: true }`,
      ...rows,
    };
    const present = Object.entries(all).filter(([, row]) => row !== '');
    const names = present.map(([name]) => name).filter((name) => name !== 'wiki');
    const lines = [
      'resources:',
      ...present.map((row) => `  ${row.join(': ')}`),
      'front-ends:',
      ...machines.map(
        (name) => `  ${name}: { kind: machine, secret-file: ${secretFile}, resources: [${names.join(', ')}] }`,
      ),
    ];
    return lines.join('\n');
  };
}
