import type { IncomingMessage } from 'node:http';
import { Events, type MutableResponse, OAuth2Server } from 'oauth2-mock-server';
import { type Client, redirectUri } from '../relay/relay-under-test.ts';
import type { TokenRequest } from './certified-provider.ts';

/** How the mock server is set up. */
export interface MockProviderOptions {
  readonly client: Client & { readonly redirectUri?: string };
  /** Goes over its own metadata; undefined removes a field. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** `oauth2-mock-server` with checks of its requests. Without them, it accepts everything. */
export interface MockProvider {
  readonly issuer: string;
  readonly tokenRequests: readonly TokenRequest[];
  close(): Promise<void>;
}

type FormRequest = IncomingMessage & { readonly body: object };

/** Starts the server on loopback; the caller closes it. */
export async function startMockProvider({
  client,
  metadata = {},
}: MockProviderOptions): Promise<MockProvider> {
  const server = new OAuth2Server();
  const tokens = new Set<unknown>();
  /** Each code works only once. */
  const refreshTokens = new Set<unknown>();
  const tokenRequests: TokenRequest[] = [];

  function isClient(form: ReadonlyMap<string, unknown>, basic: string | undefined): boolean {
    return credentials(form, basic) === `${client.clientId}\n${client.clientSecret}`;
  }

  function refusal(form: ReadonlyMap<string, unknown>, basic: string | undefined) {
    if (!isClient(form, basic)) {
      return { statusCode: 401, body: { error: 'invalid_client' } };
    }
    const isGranted =
      form.get('grant_type') === 'refresh_token'
        ? refreshTokens.delete(form.get('refresh_token'))
        : form.get('redirect_uri') === (client.redirectUri ?? redirectUri);
    return isGranted ? undefined : { statusCode: 400, body: { error: 'invalid_grant' } };
  }

  await server.issuer.keys.generate('ES256');
  const { service } = server;
  service.on(Events.BeforeWellKnownOpenIdConfiguration, ({ body }: MutableResponse) => {
    Object.assign(body, metadata);
  });
  service.on(Events.BeforeResponse, (response: MutableResponse, request: FormRequest) => {
    const form = new Map<string, unknown>(Object.entries(request.body));
    const [authorization, basic] = request.headers.authorization?.split(' ') ?? [];
    tokenRequests.push({ authorization, parameters: [...form.keys()].sort() });
    const refused = refusal(form, basic);
    if (refused !== undefined) Object.assign(response, refused);
    else if (response.body !== '') {
      tokens.add(response.body['access_token']);
      refreshTokens.add(response.body['refresh_token']);
    }
  });
  // The form is not read yet: only credentials in the header can be checked.
  service.on(Events.BeforeRevoke, (response: { statusCode: number }, request: IncomingMessage) => {
    const basic = request.headers.authorization?.replace('Basic ', '') ?? '';
    if (!isClient(new Map(), basic)) response.statusCode = 401;
  });
  service.on(Events.BeforeUserinfo, (response: MutableResponse, request: IncomingMessage) => {
    if (tokens.has(request.headers.authorization?.replace('Bearer ', ''))) return;
    Object.assign(response, { statusCode: 401, body: { error: 'invalid_token' } });
  });
  await server.start(undefined, '127.0.0.1');
  const issuer = `http://127.0.0.1:${server.address().port}`;
  server.issuer.url = issuer;
  return { issuer, tokenRequests, close: () => server.stop() };
}

/** Client identifier and secret on a line each, from the header or else from the form. */
function credentials(form: ReadonlyMap<string, unknown>, basic: string | undefined): string {
  if (basic === undefined) return `${form.get('client_id')}\n${form.get('client_secret')}`;
  const decode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));
  return Buffer.from(basic, 'base64').toString().split(':').map(decode).join('\n');
}
