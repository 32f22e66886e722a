import { jsonOf, locationOf } from '../../clients/support/clients-relay.ts';
import { granted } from '../../harness/browser/fake-browser.ts';
import type { Answer } from '../../harness/client/request.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { encoded, oauthStart, type Parameters } from '../../harness/login/oauth-front-end.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { RefreshingProvider } from '../../harness/provider/refreshing-provider.ts';
import { relayOfFile, type Settings } from '../../harness/relay/relay-of-file.ts';
import { ada, DoorRelay } from './door-relay.ts';

export { ada };

export const wiki = 'https://wiki.example.com';
export const secret = 'a secret of thirty-two characters or more';

/** Another person, with the same id at the second provider. */
export const eve = { ...ada, preferred_username: 'eve', email: 'eve@example.org' };

/** The names of both registrations. */
export type Registration = 'provider' | 'second';

const ofApp = { client_id: 'app', redirect_uri: 'https://app.example/' };

/** The part of a file about the resource. */
export interface Wiki {
  /** The value of its `provider`. */
  readonly provider?: string;
  /** Further settings of the resource. */
  readonly more?: string;
  /** Further lines of the file. */
  readonly relay?: string;
  readonly frontEnds?: string;
  /** The address of the resource. If it is on this machine, the relay is on this machine too. */
  readonly url?: string;
}

/** A relay at two providers, where different people have the same id, with a resource that serves both. */
export class ProvidersRelay extends DoorRelay {
  readonly second = new RefreshingProvider({
    // Also the same client identifier, as it may be at two providers.
    clientId: this.provider.registration.clientId,
    clientSecret: canary('secret'),
    redirectUri: '',
    tokenRequest: 'body',
    refreshTokens: true,
  });

  static override async start(): Promise<ProvidersRelay> {
    const relay = await ProvidersRelay.listen();
    relay.second.forget();
    await relay.second.listen();
    return relay;
  }

  override get providers(): readonly RefreshingProvider[] {
    return [this.provider, this.second];
  }

  /** The configuration file. */
  file({
    provider = '[provider, second]',
    more = '',
    relay = '',
    frontEnds = programs,
    url = `${wiki}/`,
  }: Wiki = {}): Settings {
    const { clientId, clientSecret } = this.second.registration;
    const client = [`client-id: ${clientId}`, `client-secret: ${clientSecret}`];
    const lines = [...client, 'title: Example & Sons', ...this.second.settings];
    return {
      relay: `trusted-proxies: [127.0.0.1]
${relay}
resources:
  wiki: { url: '${url}', provider: ${provider}, identity: [email], secret-file: ./wiki, browser: { lifetime: 60, renew: 5 }${more && `, ${more}`} }
`,
      here: url.startsWith('http://'),
      otherProviders: ['  second:', ...lines].join('\n    '),
      frontEnds,
      files: { './wiki': secret, './ci': secret },
    };
  }

  override async reload(settings: Settings): Promise<void> {
    await super.reload(settings);
    this.second.registration.redirectUri = `${this.address}/auth/second/callback`;
  }

  /** Sends a form to an endpoint of one of the registrations. */
  async postTo(registration: Registration, endpoint: string, form: Parameters): Promise<Answer> {
    const body = encoded(form);
    const headers: [string, string][] = [
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['Content-Length', `${Buffer.byteLength(body)}`],
    ];
    return await this.send({ method: 'POST', path: `/auth/${registration}/${endpoint}`, headers, body });
  }

  /** A login of a page at one of the registrations, up to its code. */
  async codeFrom(registration: Registration) {
    const start = oauthStart({ client_id: 'app', redirect_uri: 'https://app.example/' });
    const browser = this.browser();
    const asked = locationOf(await browser.open(`${this.address}/auth/${registration}?${encoded(start.parameters)}`));
    const back = locationOf(await browser.open(granted(this.providerOf(registration), asked)));
    const code = back.searchParams.get('code') ?? '';
    return { iss: back.searchParams.get('iss'), form: { ...ofApp, code, code_verifier: start.codeVerifier } };
  }

  /** The tokens of a page that has logged in at one of the registrations. */
  async tokensFrom(registration: Registration): Promise<Readonly<Record<string, unknown>>> {
    const { form } = await this.codeFrom(registration);
    return jsonOf(await this.postTo(registration, 'token', { grant_type: 'authorization_code', ...form }));
  }

  /** The identity that the server of the resource gets for a token. */
  async introspectAt(registration: Registration, token: unknown): Promise<Readonly<Record<string, unknown>>> {
    const credentials = { client_id: 'wiki', client_secret: secret };
    return jsonOf(await this.postTo(registration, 'introspect', { ...credentials, token: `${token}` }));
  }

  providerOf(registration: Registration): RefreshingProvider {
    return registration === 'second' ? this.second : this.provider;
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.second.stop();
  }
}

/** A page that uses the API of each provider, and so no resource. */
export const apart = '  app: { origin: https://app.example, token-delivery: code }';

const programs = `  app: { origin: https://app.example, token-delivery: code, refresh-tokens: bearer, resources: [wiki] }
  ci: { kind: machine, secret-file: ./ci, resources: [wiki] }
`;

/** One relay for the enclosing `describe`. The people are ada and eve before each test. */
export function providersRelay(of: Wiki = {}): () => ProvidersRelay {
  const relay = relayOfFile(async () => await ProvidersRelay.start());
  beforeEach(async () => {
    relay().second.forget();
    relay().provider.knows(json(ada));
    relay().second.knows(json(eve));
    await relay().restart(relay().file(of));
  });
  return relay;
}
