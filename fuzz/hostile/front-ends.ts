import { audienceAt } from '../../test/harness/login/sealed-grants.ts';

/** The key of the relay under attack. The attacker knows it. */
export const stateKey = 'known-to-the-attacker-0123456789abcdef';

/** The public address of the relay under attack. */
export const baseUrl = 'https://relay.example';

/** Its name in `iss`. */
export const issuer = `${baseUrl}/auth/provider`;

/** What its codes, tokens, states and sessions of a registration are bound to. */
export function audienceOf(
  registration: RegistrationName,
  providerOrigin: string,
  clientId: string = registrations[registration],
): string {
  return audienceAt({ tokenUrl: `${providerOrigin}/token` }, [registration, clientId]);
}

/** A front end of the relay under attack. */
interface FrontEndUnderAttack {
  readonly origin: string;
  readonly tokenDelivery: 'query' | 'fragment' | 'session';
  /** The registration that it logs in at. */
  readonly registration: RegistrationName;
  /** Its redirect URIs, as they are registered. A front end with sessions has none: a login may end at its first page. */
  readonly pages: readonly [string, ...string[]];
  readonly scope: readonly string[];
}

/** The registrations of the relay under attack: their names, and their client identifiers. */
export const registrations = { provider: 'client-1', house: 'client-2' } as const;

export type RegistrationName = keyof typeof registrations;

/** The front ends of the relay under attack, by name. */
export const frontEnds = {
  app: {
    origin: 'https://app.example',
    tokenDelivery: 'query',
    registration: 'provider',
    pages: ['https://app.example/signed-in?theme=dark', 'https://app.example/'],
    scope: ['read', 'write'],
  },
  shop: {
    origin: 'https://shop.example',
    tokenDelivery: 'fragment',
    registration: 'provider',
    pages: ['https://shop.example/in'],
    scope: ['read'],
  },
  wiki: {
    origin: 'https://wiki.relay.example',
    tokenDelivery: 'session',
    registration: 'house',
    pages: ['https://wiki.relay.example/'],
    scope: ['read'],
  },
  desk: {
    origin: 'https://desk.relay.example',
    tokenDelivery: 'session',
    registration: 'house',
    pages: ['https://desk.relay.example/'],
    scope: ['read', 'write'],
  },
} as const satisfies Readonly<Record<string, FrontEndUnderAttack>>;

/** The front ends that take OAuth requests. */
export type OAuthFrontEndName = 'app' | 'shop';

/** The front ends with sessions. */
export type SessionFrontEndName = 'wiki' | 'desk';

/** The path of the relay that leads the pages of `wiki` to the API of the provider. */
export const apiPath = '/house-api/';

/** Where that path leads to at the provider. */
export const apiOfProvider = '/api/v1/';

/** The methods that may reach the API. */
export const apiMethods = ['GET', 'HEAD', 'POST'] as const;

/** Where the resource is that opens to browsers, if there are several. Its name is `notes0`. */
export const pageOrigin = 'https://notes0.example';

/** The secret of the server of the resource. */
export const doorSecret = 'of-the-resource-0123456789abcdef0123456789';

/** The redirect URIs of all front ends. */
export const allPages = [...frontEnds.app.pages, ...frontEnds.shop.pages] as const;

/** The front end that has a name. */
export function frontEndOf(name: string | undefined): FrontEndUnderAttack | undefined {
  return name !== undefined && Object.hasOwn(frontEnds, name) ? frontEnds[name as keyof typeof frontEnds] : undefined;
}

/**
 * Providers and front ends as a configuration file has them. JSON is YAML.
 *
 * @param origin of the provider
 * @param secretFile that of the resource
 * @param more additional settings of each front end
 * @param resources how many there are
 * @param machines more front ends
 */
export function relayFile(
  origin: string,
  secretFile: string,
  more: Readonly<Record<string, string>> = {},
  resources = 1,
  machines: Readonly<Record<string, object>> = {},
): string {
  const urls = {
    'authorize-url': `${origin}/authorize`,
    'token-url': `${origin}/token`,
    'user-url': `${origin}/user`,
    'revocation-url': `${origin}/revoke`,
  };
  const providers = Object.entries(registrations).map(([name, clientId]) => [
    name,
    { ...urls, 'client-id': clientId, 'client-secret': 'attacked', scope: 'read write' },
  ]);
  const entries = Object.entries(frontEnds).map(([name, one]) => {
    const hasSessions = one.tokenDelivery === 'session';
    const proxy = [{ path: apiPath, url: origin + apiOfProvider, methods: apiMethods }];
    const settings = {
      origin: one.origin,
      'token-delivery': one.tokenDelivery,
      providers: [one.registration],
      scope: one.scope,
      ...(!hasSessions && { 'redirect-uris': one.pages }),
      ...(name === 'wiki' && { proxy }),
      ...more,
    };
    return [name, settings];
  });
  const url = 'https://notes.example/mcp';
  const others = Array.from({ length: resources - 1 }, (_, index) => `notes${index}`);
  const doors = others.map((name, index) => [
    name,
    // One opens to browsers, too.
    index === 0
      ? { url: `${pageOrigin}/`, provider: 'provider', browser: true }
      : { url: `https://${name}.example/mcp`, provider: 'provider' },
  ]);
  const tools = { kind: 'native', 'redirect-uris': ['http://127.0.0.1/'], resources: ['notes', ...others] };
  return JSON.stringify({
    providers: Object.fromEntries(providers),
    resources: { notes: { url, provider: 'provider', 'secret-file': secretFile }, ...Object.fromEntries(doors) },
    'front-ends': { ...Object.fromEntries(entries), tools: { ...tools, providers: ['provider'] }, ...machines },
  });
}
