import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { inspectForLeaks } from '../../../harness/expect/canaries.ts';
import { projectRoot } from '../../../harness/project/run.ts';
import { type Serving, serveTcp } from '../../../harness/provider/serve.ts';
import type { StrictProvider } from '../../../harness/provider/strict-provider.ts';
import { type RelayUnderTest, startRelayFor } from '../../../harness/relay/relay-under-test.ts';
import { selfSignedCertificate } from '../../../harness/system/certificate.ts';
import { eventually } from '../../../harness/system/eventually.ts';
import { freePort } from '../../../harness/system/free-port.ts';
import { Workspace } from '../../../harness/system/workspace.ts';

/** The values that fill in a balancer's configuration. */
export interface Site {
  readonly directory: string;
  /** The port on which the balancer listens for TLS. */
  readonly port: number;
  /** Certificate and key, in one file. */
  readonly pem: string;
  /** The ports of the relays. */
  readonly relayPorts: readonly number[];
}

/** A text of a configuration, and its replacement. */
export type Replacement = readonly [string | RegExp, string];

/** A balancer's configuration in `deploy`, and how to run it here. */
export interface BalancerKind {
  readonly program: string;
  readonly file: string;
  /** The changes for this machine. Each pair replaces a text that must be in the file. */
  replacements(site: Site): readonly Replacement[];
  /** The arguments that check the configuration. */
  check(config: string): readonly string[];
  /** The arguments that run it in the foreground. */
  serve(config: string): readonly string[];
  /** Its log files, in addition to its output. */
  logs(site: Site): readonly string[];
}

/** Starts a relay that can be started again at its port. */
export async function startAtFreePort(provider: StrictProvider): Promise<RelayUnderTest> {
  return await startRelayFor(provider, { port: `${await freePort()}` });
}

/** A balancer that runs in front of relays. */
export class Balancer {
  /** Forwards plain HTTP through the balancer's TLS. */
  readonly #tunnel: Serving;
  readonly #kind: BalancerKind;
  readonly #site: Site;
  readonly #workspace: Workspace;

  /** Checks the configuration, and starts it. */
  static async start(kind: BalancerKind, relayPorts: readonly number[]): Promise<Balancer> {
    const workspace = await Workspace.create();
    const pem = await workspace.write('certificate.pem', await selfSignedCertificate('localhost'));
    const site = { directory: workspace.folder, pem, relayPorts, port: await freePort() };
    const config = await workspace.write('config', await filledIn(kind, site));
    await workspace.run(kind.program, kind.check(config));
    const tls = { port: site.port, host: '127.0.0.1' };
    await workspace.serve(kind.program, kind.serve(config), tls);
    const tunnel = await serveTcp((plain) => {
      const secured = connectTls({ ...tls, rejectUnauthorized: false });
      plain.pipe(secured).pipe(withoutServerName()).pipe(plain);
      plain.on('error', () => secured.destroy());
      secured.on('error', () => plain.destroy());
    });
    return new Balancer(kind, site, workspace, tunnel);
  }

  private constructor(kind: BalancerKind, site: Site, workspace: Workspace, tunnel: Serving) {
    this.#kind = kind;
    this.#site = site;
    this.#workspace = workspace;
    this.#tunnel = tunnel;
  }

  /** A port that takes plain HTTP. */
  get port(): number {
    return this.#tunnel.port;
  }

  /** Where it listens for TLS. */
  get tlsPort(): number {
    return this.#site.port;
  }

  /** A PEM file with its certificate, which is for "localhost". */
  get certificateFile(): string {
    return this.#site.pem;
  }

  /** The folder of its files. */
  get directory(): string {
    return this.#site.directory;
  }

  /** Its whole output so far. */
  async log(): Promise<string> {
    const files = this.#kind.logs(this.#site).map((file) => readFile(file, 'utf8'));
    return [this.#workspace.output, ...(await Promise.all(files))].join('');
  }

  /** Resolves with the log once it contains this. */
  async logged(text: string): Promise<string> {
    return await eventually(async () => {
      const log = await this.log();
      if (!log.includes(text)) throw new Error(`not in the log: ${text}`);
      return log;
    });
  }

  /** Ends it, and searches its log for secrets. */
  async stop(): Promise<void> {
    await this.#tunnel.close();
    await this.#workspace.end();
    inspectForLeaks(`log of ${this.#kind.program}`, await this.log());
    await this.#workspace.close();
  }
}

// nginx names itself in every answer, and no setting can change that.
function withoutServerName(): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, Buffer.from(chunk.toString('latin1').replace('\r\nServer: nginx\r\n', '\r\n'), 'latin1'));
    },
  });
}

/** The configuration in `deploy` with the changes for this machine. */
async function filledIn(kind: BalancerKind, site: Site): Promise<string> {
  let text = await readFile(join(projectRoot, kind.file), 'utf8');
  for (const [from, to] of kind.replacements(site)) {
    const changed = text.replaceAll(from, to);
    if (changed === text) throw new Error(`${kind.file} has no ${from}`);
    text = changed;
  }
  return text;
}
