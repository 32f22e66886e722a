import { expect } from 'chai';
import { canary } from '../harness/expect/canaries.ts';
import { html, json, redirect } from '../harness/provider/provider-behaviours.ts';
import type { Flags } from '../harness/relay/relay-process.ts';
import { clientSecret, diagnoseHere, redirectUri } from './support/check.ts';
import { clientId } from './support/own-addresses.ts';
import { type Endpoints, withProvider } from './support/provider.ts';

const scopes = ['openid', 'profile'];

/** A provider that knows one client, and refuses a request with any fault. */
function strictProvider(registered: { redirectUri: string }): Partial<Endpoints> {
  return {
    authorize: (response, arrival) => {
      const query = arrival.url.searchParams;
      const uri = query.get('redirect_uri') ?? '';
      const scope = query.get('scope')?.split(' ') ?? [];
      const isKnown = query.get('client_id') === clientId && uri === registered.redirectUri;
      const answer = !isKnown
        ? html(400, 'No.')
        : scope.every((word) => scopes.includes(word))
          ? redirect('/login')
          : redirect(`${uri}?error=invalid_scope`);
      answer(response);
    },
    token: (response, arrival) => {
      const form = new URLSearchParams(arrival.body);
      const isKnown =
        form.get('client_id') === clientId && form.get('client_secret') === clientSecret;
      const error = isKnown ? 'invalid_grant' : 'invalid_client';
      json({ error }, isKnown ? 400 : 401)(response);
    },
    metadata: (response, arrival) => {
      const issuer = `http://${arrival.headers.host}/id`;
      const isThere = arrival.url.pathname === '/id/.well-known/openid-configuration';
      const endpoint = (name: string) => `http://${arrival.headers.host}/${name}`;
      const document = {
        issuer,
        authorization_endpoint: endpoint('authorize'),
        token_endpoint: endpoint('token'),
        token_endpoint_auth_methods_supported: ['client_secret_post'],
        scopes_supported: scopes,
      };
      (isThere ? json(document) : html(404, 'Not found'))(response);
    },
  };
}

/** One mistake of an operator. */
interface Mistake {
  /** The changes to the right configuration. */
  wrong(right: Right): Partial<Right>;
  /** The advice. The part in parentheses is the value to set. */
  readonly advice: RegExp;
  /** Follows the advice. It gets the value that the advice names, if it names one. */
  follow(told: string, right: Right): Partial<Right>;
}

/** A configuration, and the client as registered at the provider. */
interface Right {
  readonly flags: Flags;
  readonly secret: string;
  readonly registeredUri: string;
}

const mistakes: Record<string, Mistake> = {
  'a wrong client secret': {
    wrong: () => ({ secret: canary('secret') }),
    advice: /^correct the secret in the file of --client-secret-file \(\S+\), or --client-id/,
    follow: (_told, { secret }) => ({ secret }),
  },
  'a wrong client identifier': {
    wrong: ({ flags }) => ({ flags: { ...flags, 'client-id': 'client-2' } }),
    advice: /^correct the secret in the file of --client-secret-file \(\S+\), or --client-id/,
    follow: (_told, { flags }) => ({ flags }),
  },
  'a callback URL that is not registered': {
    wrong: () => ({ registeredUri: `${redirectUri}/` }),
    advice: /^register exactly (\S+) as callback URL; compare/,
    follow: (told) => ({ registeredUri: told }),
  },
  'a scope that is not listed': {
    wrong: ({ flags }) => ({ flags: { ...flags, scope: 'openid everything' } }),
    advice: /^compare --scope \(PROVIDER_SCOPE\) with (openid profile)$/,
    follow: (told, { flags }) => ({ flags: { ...flags, scope: told } }),
  },
  'an issuer under another name': {
    wrong: ({ flags }) => ({ flags: { ...flags, issuer: `${flags['issuer']}/` } }),
    advice: /set --issuer \(PROVIDER_ISSUER\) to exactly (\S+)$/,
    follow: (told, { flags }) => ({ flags: { ...flags, issuer: told } }),
  },
  'an endpoint that the metadata lacks': {
    wrong: ({ flags }) => ({ flags: { ...flags, 'user-url': undefined } }),
    advice: /^give it by hand: --user-url \(PROVIDER_USER_URL\)$/,
    follow: (_told, { flags }) => ({ flags }),
  },
  'a provider without metadata': {
    wrong: ({ flags }) => ({ flags: { ...flags, issuer: flags['issuer']?.replace('/id', '') } }),
    advice: /a provider without metadata needs --authorize-url .*--token-url .*--user-url/,
    follow: (_told, { flags: { 'user-url': userUrl = '' } }) => ({
      flags: {
        'authorize-url': userUrl.replace('/user', '/authorize'),
        'token-url': userUrl.replace('/user', '/token'),
        'user-url': userUrl,
        'token-request': 'body',
      },
    }),
  },
  'https at a port without TLS': {
    wrong: ({ flags }) => ({
      flags: { ...flags, issuer: flags['issuer']?.replace('http:', 'https:') },
    }),
    advice: /a server without TLS needs (http:\/\/) instead of https:\/\/$/,
    follow: (_told, { flags }) => ({ flags }),
  },
  'an endpoint at a wrong address': {
    wrong: ({ flags }) => ({ flags: { ...flags, 'token-url': `${flags['issuer']}/token` } }),
    advice: /^correct --token-url \(PROVIDER_TOKEN_URL\)$/,
    follow: (_told, { flags }) => ({ flags }),
  },
};

describe('the advice of login-relay check', () => {
  for (const [name, { wrong, advice, follow }] of Object.entries(mistakes)) {
    it(`leads from ${name} to a report without a problem`, async () => {
      const registered = { redirectUri };
      await withProvider(strictProvider(registered), async (_flags, _arrivals, address) => {
        const right: Right = {
          flags: { issuer: `${address}/id`, 'user-url': `${address}/user` },
          secret: clientSecret,
          registeredUri: redirectUri,
        };
        const run = async (changes: Partial<Right>) => {
          const { flags, secret, registeredUri } = { ...right, ...changes };
          registered.redirectUri = registeredUri;
          const { report } = await diagnoseHere({ flags, secret });
          return report.findings.filter(
            ({ subject, verdict }) =>
              subject !== 'base URL' && (verdict === 'problem' || verdict === 'warning'),
          );
        };
        const fixes = (await run(wrong(right))).map(({ fix }) => fix ?? '');
        const match = fixes.map((fix) => advice.exec(fix)).find((found) => found !== null);
        expect(match, JSON.stringify(fixes)).not.to.equal(undefined);
        expect(await run(follow(match?.[1] ?? '', right))).to.deep.equal([]);
      });
    });
  }
});
