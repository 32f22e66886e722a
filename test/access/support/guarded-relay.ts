import type { Answer } from '../../harness/client/http-client.ts';
import { canariesIn } from '../../harness/expect/canaries.ts';
import { SessionPage } from '../../harness/login/session-page.ts';
import type { Page } from '../../harness/provider/pages.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { RelayOfFile, relayOfFile } from '../../harness/relay/relay-of-file.ts';

/** A relay of one provider and one front end, which says who may log in. */
interface Guarded {
  /** The settings of the front end `app`, as YAML in one line. */
  readonly frontEnd: string;
  /** A setting of the provider in addition to its addresses, as YAML in one line. */
  readonly provider?: string;
  /** Settings of the relay, as lines of YAML. */
  readonly more?: string;
}

/** The address of a page of the front end that sessions accept. */
export const guardedOrigin = 'https://app.relay.example';

const settingsOf = ({ frontEnd, provider = '', more = '' }: Guarded) => ({
  frontEnds: `  app: { origin: ${guardedOrigin}, ${frontEnd} }`,
  provider: `provider: github\n    ${provider}`,
  relay: more,
});

export class GuardedRelay extends RelayOfFile {
  /** Forgets everything, and uses this configuration. The person is `ada` until a page says otherwise. */
  async guard(guarded: Guarded): Promise<void> {
    this.provider.forget();
    this.provider.pages = { 'GET /user': json({ login: 'ada', id: 1 }) };
    this.lines.length = 0;
    this.ahead = 0;
    await this.restart(settingsOf(guarded));
  }

  /** Uses another configuration, as after SIGHUP. */
  async guardNow(guarded: Guarded): Promise<void> {
    await this.reload(settingsOf(guarded));
  }

  /** The provider's answers to `GET /user/…`, except for the user record. */
  answer(pages: Readonly<Record<string, Page>>): void {
    this.provider.pages = { ...this.provider.pages, ...pages };
  }

  /** Moves the clock of the relay. */
  advance(milliseconds: number): void {
    this.ahead += milliseconds;
  }

  /** Logs in without PKCE. Returns the answer to the callback. */
  async logIn(browser = this.browser()): Promise<Answer> {
    return await browser.open(await browser.consent(this.provider));
  }

  sessionPage(): SessionPage {
    return new SessionPage(() => this, this.provider);
  }

  /** The requested paths of the provider, except for its endpoints. */
  get asked(): string[] {
    return this.provider.asked;
  }
}

/** One relay for the enclosing `describe`. */
export const guardedRelay = () => relayOfFile(() => GuardedRelay.listen());

/** Whether an answer holds a token, a code, or the cookie of a session. */
export function givesAway({ headers, body }: Answer): boolean {
  const cookies = [headers['set-cookie'] ?? []].flat();
  const hasSession = cookies.some((one) => /lr_session/.test(one) && !/Max-Age=0/i.test(one));
  const text = JSON.stringify(headers) + body;
  return hasSession || canariesIn(text).size > 0 || /access_token|[?&#"]code[="]/.test(text);
}
