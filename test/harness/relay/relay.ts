import { expect } from 'chai';
import { type Answer, type Sending, send, sendBytes } from '../client/http-client.ts';
import { canary } from '../expect/canaries.ts';
import { basePath } from '../system/variant.ts';
import type { LogLine, RelayProcess } from './relay-process.ts';

/** The front end's origin in every test that does not say otherwise. */
export const frontendOrigin = 'https://app.example';
/** The relay's public address. It differs from every host that a test sends. */
export const baseUrl = `https://relay.example${basePath}`;
export const redirectUri = `${baseUrl}/auth/provider/callback`;
export const loginPath = '/auth/provider';
export const callbackPath = '/auth/provider/callback';
export const userPath = '/api/user';

/** A relay that listens. */
export class Relay {
  readonly process: RelayProcess;
  readonly port: number;
  #listening: Promise<LogLine> | undefined;

  constructor(process: RelayProcess, port: number) {
    this.process = process;
    this.port = port;
  }

  async send(sending: Sending): Promise<Answer> {
    return await send(this.port, sending);
  }

  async sendBytes(bytes: string | Buffer): Promise<Answer> {
    return await sendBytes(this.port, bytes);
  }

  /** A request of a plain HTTP client, which shows no sign of a browser. */
  async get(path: string): Promise<Answer> {
    return await this.send({ path });
  }

  /** The callback with this `code`, encoded. */
  async logIn(code = canary('code')): Promise<Answer> {
    return await this.get(`${callbackPath}?code=${encodeURIComponent(code)}`);
  }

  /** The user lookup with this `Authorization` value. */
  async lookUp(authorization = `Bearer ${canary('token')}`): Promise<Answer> {
    return await this.send({ path: userPath, headers: [['Authorization', authorization]] });
  }

  /** The user lookup with this token. */
  async userOf(token: string): Promise<Answer> {
    return await this.lookUp(`Bearer ${token}`);
  }

  /** The metrics that a relay with `--metrics-port` exports. */
  async metrics(): Promise<string> {
    this.#listening ??= this.process.logLine(({ msg }) => msg === 'listening');
    const { port } = new URL(String((await this.#listening)['metricsAddress']));
    const { status, body } = await send(Number(port), { path: '/metrics' });
    expect(status).to.equal(200);
    return `${body}`;
  }

  /** The permissions that the answer to a preflight at this path gives to a page of this origin. */
  async preflight(
    path: string,
    origin = frontendOrigin,
    headers: string | undefined = undefined,
    method = 'POST',
  ): Promise<Answer> {
    const asked: [string, string][] = [
      ['Origin', origin],
      ['Access-Control-Request-Method', method],
    ];
    if (headers !== undefined) asked.push(['Access-Control-Request-Headers', headers]);
    return await this.send({ method: 'OPTIONS', path, headers: asked });
  }

  /** The log line of the request with this answer, once it is written. */
  async lineOf({ headers }: Answer): Promise<LogLine> {
    const id = headers['x-request-id'];
    expect(id).to.be.a('string');
    return await this.process.logLine(({ requestId }) => requestId === id);
  }

  /** The log line of the request with this outcome, once it is written. */
  async requestLine(outcome: string): Promise<LogLine> {
    return await this.process.logLine((line) => line['msg'] === 'request' && line['outcome'] === outcome);
  }

  /** The first log line of a discovery attempt with this outcome. */
  async discoveryLine(outcome: 'discovered' | 'failed'): Promise<LogLine> {
    return await this.process.logLine((line) => line['msg'] === 'provider discovery' && line['outcome'] === outcome);
  }

  /** Sends SIGHUP. Resolves with the log line about the reload. */
  async reload(): Promise<LogLine> {
    const isReload = ({ msg }: LogLine) => /^(not )?reloaded/.test(String(msg));
    const before = this.process.logLines.filter(isReload).length;
    process.kill(this.process.pid, 'SIGHUP');
    return await this.process.output(() => this.process.logLines.filter(isReload)[before]);
  }

  /** Stops it. It must end with code 0 and an empty standard error. */
  async stop(): Promise<void> {
    const { code, stderr } = await this.process.stop();
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  }
}
