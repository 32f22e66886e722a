import { Agent } from 'node:http';
import { expect } from 'chai';
import { FakeBrowser, type Login, type Target } from '../browser/fake-browser.ts';
import { canary } from '../expect/canaries.ts';
import { expectRedirect, expectUser } from '../expect/expectations.ts';
import { frontendOrigin, userPath } from '../relay/relay-under-test.ts';
import { send } from './http-client.ts';

// The number of logins between their start and their callback, because people spend time at the provider.
const logInAtOnce = 20;

/** A realistic mix of logins and lookups. Some clients use keep-alive connections. */
export class LoginTraffic {
  /** Logins that ended with the token that was issued for them. */
  finished = 0;
  started = 0;
  readonly #target: () => Target;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8, scheduling: 'fifo' });
  readonly #pending: { readonly browser: FakeBrowser; readonly login: Login }[] = [];

  constructor(target: () => Target) {
    this.#target = target;
  }

  /** Sends one request: a start, a callback and a lookup in turn. Rejects if it fails. */
  readonly request = async (index: number): Promise<void> => {
    const agent = index % 2 === 0 ? this.#agent : undefined;
    if (index % 3 === 0) await this.#start(agent);
    else if (index % 3 === 1 && this.#pending.length > logInAtOnce) await this.#finish();
    else await this.#lookUp(agent);
  };

  /** Finishes every started login, and closes the connections. */
  async end(): Promise<void> {
    while (this.#pending.length > 0) await this.#finish();
    this.#agent.destroy();
  }

  async #start(agent: Agent | undefined): Promise<void> {
    const browser = new FakeBrowser(this.#target, { agent });
    this.#pending.push({ browser, login: await browser.start() });
    this.started += 1;
  }

  async #finish(): Promise<void> {
    const next = this.#pending.shift();
    if (next === undefined) return;
    const location = expectRedirect(await next.browser.finish(next.login));
    expect(location.origin).to.equal(frontendOrigin);
    const token = location.searchParams.get('access_token');
    expect(token).to.be.a('string');
    expect(token).to.equal(this.#target().provider.tokenFor(next.login.code));
    this.finished += 1;
  }

  async #lookUp(agent: Agent | undefined): Promise<void> {
    const token = canary('token');
    const answer = await send(this.#target().port, {
      path: userPath,
      headers: [['Authorization', `Bearer ${token}`]],
      ...(agent && { agent }),
    });
    expect(expectUser(answer)).to.have.property('login', `owner-of-${token}`);
  }
}
