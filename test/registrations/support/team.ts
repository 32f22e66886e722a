import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import type { Answer } from '../../harness/client/http-client.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { expectRedirect } from '../../harness/expect/expectations.ts';
import { encoded, oauthStart, type Parameters } from '../../harness/login/oauth-front-end.ts';
import { type ClientRegistration, StrictProvider } from '../../harness/provider/strict-provider.ts';
import { baseUrl, listening, Relay, registration, secretFile } from '../../harness/relay/relay-under-test.ts';

const secretFiles = new WeakMap<StrictProvider, Promise<string>>();

/** The file with the client secret of a provider. It stays the same file, so that a reload finds it unchanged. */
function secretFileOf(provider: StrictProvider): Promise<string> {
  const file = secretFiles.get(provider) ?? secretFile(provider.registration.clientSecret);
  secretFiles.set(provider, file);
  return file;
}

/**
 * The lines of a provider in a configuration file. `more` are further lines, instead of the form of the token request.
 */
export async function entryOf(
  name: string,
  provider: StrictProvider,
  more = '\n    token-request: query',
): Promise<string> {
  return `  ${name}:${more}
    client-id: ${provider.registration.clientId}
    client-secret-file: ${await secretFileOf(provider)}
    authorize-url: ${provider.authorizeUrl}
    token-url: ${provider.tokenUrl}
    user-url: ${provider.userUrl}
`;
}

/** The registrations of the relay. */
type Name = 'github' | 'staff';

export const origins = {
  app: 'https://app.example',
  shop: 'https://shop.example',
  blog: 'https://blog.example',
} as const;

/** A relay with two registrations and three front ends, and their providers. */
export class Team extends Relay {
  readonly providers: Readonly<Record<Name, StrictProvider>>;
  readonly configFile: string;

  constructor(relay: Relay, providers: Team['providers'], configFile: string) {
    super(relay.process, relay.port);
    this.providers = providers;
    this.configFile = configFile;
  }

  /** A browser that is sent to one of the providers. */
  browser(name: Name): FakeBrowser {
    return new FakeBrowser(() => ({ port: this.port, provider: this.providers[name] }));
  }

  /** Every call to a provider. */
  get calls(): readonly unknown[] {
    return Object.values(this.providers).flatMap(({ calls }) => calls);
  }

  /** Logs in, from the start through the provider to the callback. */
  async logInAt(name: Name, start: string, browser = this.browser(name)): Promise<Answer> {
    return await browser.open(await browser.consent(this.providers[name], start));
  }

  /** Logs in as `shop`, up to its page. Returns what redeems its code. */
  async shopRedemption(name: Name): Promise<Parameters> {
    const { parameters, codeVerifier: code_verifier } = shopStart();
    const page = expectRedirect(await this.logInAt(name, `/auth/${name}?${encoded(parameters)}`));
    const code = page.searchParams.get('code') ?? '';
    return { grant_type: 'authorization_code', client_id: 'shop', code, code_verifier };
  }

  /** The callback that the provider redirects to, after consent. */
  callbackOf(name: Name, request: URL, at: Name = name): string {
    const code = this.providers[name].authorize(request);
    const state = request.searchParams.get('state') ?? '';
    return `/auth/${at}/callback?${encoded({ code, state })}`;
  }

  override async stop(): Promise<void> {
    const ended = super.stop();
    await Promise.all(Object.values(this.providers).map((provider) => provider.stop()));
    await ended;
  }
}

/** The start of an OAuth login of the front end `shop`. */
export function shopStart(changes: Parameters = {}) {
  return oauthStart({ client_id: 'shop', redirect_uri: `${origins.shop}/in`, ...changes });
}

/**
 * A configuration file with two registrations and three front ends: `app` gets tokens in its address,
 * `shop` codes, and `blog` tokens in the fragment, at `github` alone.
 */
export async function configOf(
  providers: Team['providers'],
  more: string = '',
  frontEnds: string = '',
): Promise<string> {
  const entries = await Promise.all(
    // A CMS works with few providers, so the entry names the preset of such a provider.
    Object.entries(providers).map(([name, provider]) =>
      entryOf(name, provider, name === 'github' ? '\n    provider: github' : undefined),
    ),
  );
  return `base-url: ${baseUrl}
port: 0
${more}
providers:
${entries.join('')}front-ends:
  app: { origin: ${origins.app} }
  shop: { origin: ${origins.shop}, redirect-uris: [${origins.shop}/in], token-delivery: code }
  blog: { origin: ${origins.blog}, token-delivery: fragment, providers: [github], scope: repo user }
${frontEnds}`;
}

/** Starts the provider of a registration of this name. */
export async function startProviderOf(name: string, more: Partial<ClientRegistration> = {}) {
  const clientId = `client-at-${name}`;
  const redirectUri = `${baseUrl}/auth/${name}/callback`;
  return await StrictProvider.start(registration({ clientId, clientSecret: canary('secret'), redirectUri, ...more }));
}

/** Starts the relay and its providers; the caller stops them. */
async function startTeam(more?: string, frontEnds?: string): Promise<Team> {
  const [github, staff] = await Promise.all([startProviderOf('github'), startProviderOf('staff')]);
  const providers = { github, staff };
  const configFile = await secretFile(await configOf(providers, more, frontEnds));
  const { relay, port } = await listening({ flags: { config: configFile } });
  return new Team(new Relay(relay, port), providers, configFile);
}

/**
 * One relay for the whole `describe` that this is called in.
 *
 * @param more settings of the relay
 * @param frontEnds more front ends
 */
export function team(more?: string, frontEnds?: string): () => Team {
  let underTest: Team | undefined;
  before('start the relay', async () => {
    underTest = await startTeam(more, frontEnds);
  });
  beforeEach(() => {
    for (const provider of Object.values(underTest?.providers ?? {})) provider.forget();
  });
  afterEach('the providers saw nothing but what the specification says', () => {
    for (const { violations } of Object.values(underTest?.providers ?? {})) {
      expect(violations).to.deep.equal([]);
    }
  });
  after('stop the relay', async () => await underTest?.stop());
  return () => {
    if (underTest === undefined) throw new Error('the relay has not started');
    return underTest;
  };
}

/** Writes the configuration file again, and reloads it. */
export async function reloadWith(underTest: Team, text: string) {
  await writeFile(underTest.configFile, text, { mode: 0o600 });
  return await underTest.reload();
}
