import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { createAccess, createAccessMemory } from '../../../src/access/access.ts';
import type { Allow } from '../../../src/access/allow.ts';
import type { IdentityQuestion } from '../../../src/access/identity.ts';
import {
  createAuthorizationUrls,
  withAccountWish,
  withLoginParameters,
} from '../../../src/oauth/authorization-request.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { Secret } from '../../../src/sealing/secret.ts';
import { createUpstreamClient } from '../../../src/upstream/client.ts';
import { createProviderEndpoints } from '../../../src/upstream/provider-endpoints.ts';
import { version } from '../../../src/version.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';

/** The requests of one kind, each as the lines that the provider got. */
export type Recording = Readonly<Record<string, readonly string[] | readonly (readonly string[])[]>>;

const client = {
  clientId: 'client:1/a',
  clientSecret: new Secret('s%cret +'),
  callbackUri: 'https://login.example.com/auth/provider/callback',
};

const rules: readonly Allow[] = [
  { users: ['octocat'] },
  { users: ['7'] },
  { organizations: ['example'] },
  { teams: ['example/staff'] },
  { emails: ['ada@example.com'] },
  { emailDomains: ['example.com'] },
  { groups: ['staff'] },
];

/** Answers every question, so that none of them ends early. The person matches none of the rules. */
const record = {
  id: 1,
  sub: 's-1',
  login: 'ada',
  username: 'ada',
  account_id: 'a-1',
  'https://slack.com/team_id': 'T1',
  'https://slack.com/user_id': 'U1',
  email: 'bob@example.org',
  organization: { login: 'other', username: 'other' },
  slug: 'others',
  name: 'others',
  groups: ['others'],
};

const answer = JSON.stringify({ ...record, value: [], '@odata.nextLink': 'https://next.example/?page=2' });

/**
 * Plays all providers on this machine: `https://github.com/…` is `http://127.0.0.1:<port>/github.com/…`. So it records
 * what providers get, byte for byte.
 */
export class Recorder {
  readonly #serving: Serving;
  readonly #client = createUpstreamClient({ timeout: 10_000, concurrentCalls: 64 });
  #requests: (readonly string[])[] = [];

  static async start(): Promise<Recorder> {
    const serving = await serve(async (message, response) => {
      const body = await text(message);
      recorder.#requests.push([...linesOf(message), ...(body === '' ? [] : ['', body])].map(recorder.#original));
      response.setHeader('content-type', 'application/json');
      if (message.url?.includes('page=2')) response.end('[]');
      else response.setHeader('link', '<https://next.example/?page=2>; rel="next"').end(answer);
    });
    const recorder = new Recorder(serving);
    return recorder;
  }

  private constructor(serving: Serving) {
    this.#serving = serving;
  }

  get #here(): string {
    return `http://127.0.0.1:${this.#serving.port}/`;
  }

  /** A text that was recorded, with the addresses of the provider. */
  readonly #original = (text: string) =>
    text
      .replaceAll(this.#here, 'https://')
      .replaceAll(encodeURIComponent(this.#here), encodeURIComponent('https://'))
      .replaceAll(`:${this.#serving.port}`, ':PORT')
      .replaceAll(version, 'VERSION');

  /** All that the relay sends to a provider, for itself or through a browser. */
  async record(known: Provider): Promise<Recording> {
    const here = JSON.parse(JSON.stringify(known).replaceAll('https://', this.#here));
    // Slack's names of claims begin with https://, too.
    const provider: Provider = { ...here, access: known.access };
    const registered = { ...provider, ...client };
    const endpoints = createProviderEndpoints(this.#client, registered);
    const observe = () => {};
    const verdictOf = (allow: Allow | undefined, question?: IdentityQuestion) => {
      const by = { provider, clientId: 'client', audience: 'a', timeout: 10_000, now: Date.now };
      const memory = createAccessMemory({ now: Date.now });
      return createAccess(memory, endpoints, by).judge({ accessToken: 'at' }, [allow], question, observe);
    };
    const asked: Record<string, () => Promise<unknown>> = {
      code: () => endpoints.requestToken({ code: 'the code', codeVerifier: 'v'.repeat(43) }, observe),
      'code without PKCE': () => endpoints.requestToken({ code: 'c', codeVerifier: undefined }, observe),
      refresh: () => endpoints.requestToken({ refreshToken: 'r+t' }, observe),
      'refresh of a part': () => endpoints.requestToken({ refreshToken: 'rt', scope: 'a b' }, observe),
      'user lookup': () => endpoints.lookUpUser('at', observe),
      'revocation of a refresh token': () => endpoints.revokeToken({ refreshToken: 'rt' }, observe),
      'revocation of an access token': () => endpoints.revokeToken({ accessToken: 'at' }, observe),
      'revocation of both': () => endpoints.revokeToken({ refreshToken: 'rt', accessToken: 'at' }, observe),
      identity: () => verdictOf(undefined, { claims: ['email', 'groups'] }),
    };
    for (const rule of rules) asked[`allow ${JSON.stringify(rule)}`] = () => verdictOf(rule);
    const found: Record<string, Recording[string]> = {
      authorization: this.#authorizations(provider),
      'log-out page': provider.logoutUrl ? [this.#original(provider.logoutUrl)] : [],
    };
    for (const [name, ask] of Object.entries(asked)) {
      this.#requests = [];
      await ask().catch(() => {});
      // A question that fails leaves others in flight. What follows an answer is sent before the next timer fires.
      while (this.#client.inFlight() > 0) await setTimeout(1);
      found[name] = this.#requests.toSorted((one, other) => (one.join() < other.join() ? -1 : 1));
    }
    return found;
  }

  #authorizations(provider: Provider): string[] {
    const urlFor = createAuthorizationUrls(client, provider);
    const login = { state: 'st', nonce: 'no', codeChallenge: 'ch' };
    const { scope } = provider;
    return [
      urlFor(),
      urlFor({ refresh: true }),
      urlFor({ scope: 'one two' }),
      urlFor({ scope: 'one two', refresh: true }),
      withLoginParameters(urlFor({ scope }), login),
      withAccountWish(urlFor(), { otherAccount: true, loginHint: 'ada@example.com' }, provider),
    ].map(this.#original);
  }

  async stop(): Promise<void> {
    this.#client.close();
    await this.#serving.close();
  }
}

/** The request line and the headers, as they were sent. */
function linesOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): string[] {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  return lines;
}
