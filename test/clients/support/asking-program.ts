import { granted } from '../../harness/browser/fake-browser.ts';
import { oauthStart, type Parameters } from '../../harness/login/oauth-front-end.ts';
import { html, redirect } from '../../harness/provider/provider-behaviours.ts';
import { type ClientsRelay, clientsRelay, jsonOf } from './clients-relay.ts';

/** An unregistered program that listens on this machine, at the address of the provider. */
export interface AskingProgram {
  readonly relay: ClientsRelay;
  readonly redirectUri: string;
  /** The address at which the relay asks a person about a new program of this kind. */
  question(metadata?: Parameters): Promise<string>;
}

/**
 * A relay that asks people about such programs, for the enclosing `describe`. The provider agrees to every login.
 *
 * @param scope of the provider
 * @param pages further pages of the provider's host, by their paths
 */
export function askingProgram({ scope = 'read:user user:email', pages = {} }: Settings = {}): () => AskingProgram {
  const relay = clientsRelay(() => ({
    here: true,
    provider: `scope: ${scope}`,
    frontEnds: '  tools: { kind: native, clients: { registration: true } }',
  }));
  const redirectUri = () => new URL('/program', relay().provider.origin).href;

  before('the provider agrees, and the program answers', () => {
    const { provider } = relay();
    const { pathname } = new URL(provider.authorizeUrl);
    provider.pages = {
      [pathname]: (response, { url }) => redirect(granted(provider, url))(response),
      // Otherwise the provider takes the request for the icon for a request of the relay.
      '/favicon.ico': html(404, ''),
      '/program': html(200, '<h1>You can close this page</h1>'),
      ...Object.fromEntries(Object.entries(pages).map(([path, body]) => [path, html(200, body)])),
    };
  });

  return () => ({
    relay: relay(),
    redirectUri: redirectUri(),
    async question(metadata = {}) {
      const whole = { redirect_uris: [redirectUri()], client_name: 'Code review from the shell', ...metadata };
      const { client_id } = jsonOf(await relay().post('register', JSON.stringify(whole)));
      const { redirect_uris: [redirect_uri = ''] = [] } = whole;
      const { parameters } = oauthStart({ client_id: `${client_id}`, redirect_uri });
      const query = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, `${value}`]));
      return `${relay().address}/auth/provider?${query}`;
    },
  });
}

interface Settings {
  readonly scope?: string;
  readonly pages?: Readonly<Record<string, string>>;
}
