import { type ClientsRelay, clientsRelay, jsonOf } from '../../clients/support/clients-relay.ts';
import type { Answer } from '../../harness/client/request.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import type { Settings } from '../../harness/relay/relay-of-file.ts';

export const notes = 'https://notes.example.com/mcp';
export const files = 'https://files.example.com/';
export const secret = 'a secret of thirty-two characters or more';
const otherSecret = 'another secret of thirty-two characters';
/** The provider's record of the person. */
export const ada = {
  sub: '42',
  preferred_username: 'ada',
  email: 'ada@example.com',
  email_verified: true,
  groups: ['staff', 'a, b'],
};

/** A page and programs with resources, and a page that uses the provider's API. */
export const settings: Settings = {
  relay: `resources:
  notes: { url: ${notes}, identity: [email, groups], scope: 'notes:read', secret-file: ./notes }
  files: { url: ${files}, lifetime: 5, secret-file: ./files }
`,
  frontEnds: `  app: { origin: https://app.example, token-delivery: code, refresh-tokens: bearer, resources: [notes, files] }
  tools: { kind: native, refresh-tokens: bearer, clients: { registration: true }, resources: [notes] }
  spare: { origin: https://spare.example, token-delivery: code, resources: [notes, files] }
  plain: { origin: https://plain.example, refresh-tokens: bearer }
`,
  files: { './notes': secret, './files': otherSecret },
};
export const secrets: Readonly<Record<string, string>> = { notes: secret, files: otherSecret };

/** The answer of the token endpoint. */
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly [name: string]: unknown;
}

export const tokensOf = (answer: Answer) => jsonOf(answer) as Tokens;

export const ofApp = { client_id: 'app', redirect_uri: 'https://app.example/' };

/** One relay with resources for the enclosing `describe`. The person is ada before each test. */
export function resourcesRelay(of: Settings = settings): () => ClientsRelay {
  const relay = clientsRelay(() => of);
  beforeEach(() => {
    const { provider } = relay();
    provider.knows(json(ada));
  });
  return relay;
}

/** Logs in, and redeems the code. */
export async function logIn(relay: ClientsRelay, changes: Record<string, string>): Promise<Answer> {
  const { start, code } = await relay.logIn(changes);
  return await relay.redeem(start, code);
}

/** The answer of the check for proxies. */
export async function check(
  relay: ClientsRelay,
  resource: string,
  ...headers: [name: string, value: string][]
): Promise<Answer> {
  return await relay.send({ path: `/auth/check/${resource}`, headers });
}

export const bearer = (token: string): [string, string] => ['Authorization', `Bearer ${token}`];

/** The answer of an introspection. */
export async function introspect(
  relay: ClientsRelay,
  resource: string,
  token: string,
): Promise<Readonly<Record<string, unknown>>> {
  const credentials = { client_id: resource, client_secret: secrets[resource] ?? '' };
  return jsonOf(await relay.post('introspect', { ...credentials, token }));
}
