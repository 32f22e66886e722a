import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type NetConnectOpts, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { inspectForLeaks } from '../../../harness/expect/canaries.ts';
import { projectRoot, run } from '../../../harness/project/run.ts';
import { selfSignedCertificate } from '../../../harness/system/certificate.ts';
import { freePort } from '../../../harness/system/free-port.ts';

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

/** A balancer's configuration in `deploy`, and how to run it here. */
export interface BalancerKind {
  readonly program: string;
  readonly file: string;
  /** The changes for this machine. Each pair replaces a text that must be in the file. */
  replacements(site: Site): readonly (readonly [string | RegExp, string])[];
  /** The arguments that check the configuration. */
  check(config: string): readonly string[];
  /** The arguments that run it in the foreground. */
  serve(config: string): readonly string[];
  /** Its log files, besides its output. */
  logs(site: Site): readonly string[];
  /** Its administration sockets. It may open them after its port. */
  sockets(site: Site): readonly string[];
}

/** A balancer that runs in front of relays. */
export class Balancer {
  /** A port that forwards plain HTTP through the balancer's TLS. */
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #tunnel: Server;
  readonly #output: Buffer[];
  readonly #kind: BalancerKind;
  readonly #site: Site;

  /** Checks the configuration, and starts it. */
  static async start(kind: BalancerKind, relayPorts: readonly number[]): Promise<Balancer> {
    const directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
    const pem = join(directory, 'certificate.pem');
    await writeFile(pem, await selfSignedCertificate('relay.example'));
    const site = { directory, pem, relayPorts, port: await freePort() };
    const config = join(directory, 'config');
    await writeFile(config, await filledIn(kind, site));
    const checked = run(kind.program, kind.check(config));
    expect(checked.code, checked.stdout + checked.stderr).to.equal(0);

    const child = spawn(kind.program, kind.serve(config), { stdio: ['ignore', 'pipe', 'pipe'] });
    const output: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
    const tunnel = createServer((plain) => {
      const secured = connectTls({ port: site.port, host: '127.0.0.1', rejectUnauthorized: false });
      plain.pipe(secured).pipe(withoutServerName()).pipe(plain);
      plain.on('error', () => secured.destroy());
      secured.on('error', () => plain.destroy());
    });
    tunnel.listen(0, '127.0.0.1');
    await once(tunnel, 'listening');
    const address = tunnel.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const balancer = new Balancer(kind, site, { child, output, tunnel, port: address.port });
    await balancer.#listening();
    return balancer;
  }

  private constructor(
    kind: BalancerKind,
    site: Site,
    running: { child: ChildProcess; output: Buffer[]; tunnel: Server; port: number },
  ) {
    this.#kind = kind;
    this.#site = site;
    this.#child = running.child;
    this.#output = running.output;
    this.#tunnel = running.tunnel;
    this.port = running.port;
  }

  /** Where it listens for TLS. */
  get tlsPort(): number {
    return this.#site.port;
  }

  /** The folder of its files. */
  get directory(): string {
    return this.#site.directory;
  }

  /** Its whole output so far. */
  async log(): Promise<string> {
    const files = this.#kind.logs(this.#site).map((file) => readFile(file, 'utf8'));
    return [Buffer.concat(this.#output).toString(), ...(await Promise.all(files))].join('');
  }

  /** Resolves with the log once it contains this. */
  async logged(text: string): Promise<string> {
    for (;;) {
      const log = await this.log();
      if (log.includes(text)) return log;
      await delay(20);
    }
  }

  /** Ends it, and searches its log for secrets. */
  async stop(): Promise<void> {
    this.#tunnel.close();
    if (this.#child.exitCode === null) {
      const ended = once(this.#child, 'close');
      this.#child.kill('SIGTERM');
      await ended;
    }
    inspectForLeaks(`log of ${this.#kind.program}`, await this.log());
    await rm(this.#site.directory, { recursive: true });
  }

  async #listening(): Promise<void> {
    const sockets = this.#kind.sockets(this.#site).map((path) => ({ path }));
    for (const address of [{ port: this.#site.port, host: '127.0.0.1' }, ...sockets]) {
      while (!(await accepts(address))) {
        if (this.#child.exitCode !== null) throw new Error(await this.log());
        await delay(20);
      }
    }
  }
}

async function accepts(address: NetConnectOpts): Promise<boolean> {
  const socket = connect(address);
  const open = await new Promise<boolean>((resolve) => {
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
  });
  socket.destroy();
  return open;
}

// nginx names itself in every answer, and no setting can change that.
function withoutServerName(): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(
        null,
        Buffer.from(chunk.toString('latin1').replace('\r\nServer: nginx\r\n', '\r\n'), 'latin1'),
      );
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
