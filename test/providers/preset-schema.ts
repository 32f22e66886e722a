import * as v from 'valibot';
import * as schemas from '../../src/config/schemas.ts';
import { providerUrl } from '../../src/urls.ts';

const words = v.pipe(v.string(), v.regex(/^\S+( \S+)*$/, 'must be words with single spaces'));

const httpsUrl = v.pipe(
  providerUrl,
  v.check((url) => url.protocol === 'https:', 'must be https'),
);

/** An https URL after each placeholder is filled in. Any other brace makes the URL invalid. */
const template = v.pipe(
  v.string(),
  v.check(
    (url) => v.is(httpsUrl, url.replaceAll('{host}', 'id.example').replaceAll('{tenant}', 'staff')),
    'must be an https URL of ASCII characters, with no placeholders but {host} and {tenant}',
  ),
  v.check(
    (url) => !url.includes('{host}') || url.startsWith('https://{host}/'),
    '{host} must stand where the host does',
  ),
);

const placeholder = v.strictObject({
  meaning: words,
  default: v.exactOptional(v.pipe(v.string(), v.regex(/^[a-z0-9.-]+$/))),
});

const headers = v.record(
  v.pipe(v.string(), v.regex(/^[a-z]+(-[a-z]+)*$/, 'must be a lower-case header name')),
  v.pipe(
    schemas.visibleCharacters,
    v.check(
      (value) => !/[{}]/.test(value.replaceAll('{version}', '').replaceAll('{baseUrl}', '')),
      'must have no placeholders but {version} and {baseUrl}',
    ),
  ),
);

/** The form of every preset. */
export const presetSchema = v.pipe(
  v.strictObject({
    name: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/)),
    title: words,
    documentation: v.pipe(
      v.string(),
      v.check((url) => v.is(httpsUrl, url), 'must be an https URL'),
    ),
    host: v.exactOptional(placeholder),
    tenant: v.exactOptional(placeholder),
    authorizeUrl: template,
    tokenUrl: template,
    userUrl: template,
    scope: v.exactOptional(schemas.scope),
    clientAuthentication: v.picklist(['query', 'body', 'basic']),
    pkce: v.boolean(),
    tokenResponse: v.exactOptional(
      v.strictObject({
        scopeSeparator: v.exactOptional(v.literal(',')),
        nestedIn: v.exactOptional(words),
      }),
    ),
    refreshTokens: v.picklist(['always', 'by-setting', 'never']),
    refreshRequest: v.exactOptional(
      v.strictObject({
        scope: v.exactOptional(schemas.scope),
        parameters: v.exactOptional(v.array(v.tuple([words, words]))),
      }),
    ),
    revocation: v.exactOptional(
      v.strictObject({
        url: v.pipe(
          v.string(),
          v.check((url) => v.is(template, url.replace('{clientId}', 'client'))),
        ),
        request: v.picklist(['rfc7009', 'public-client', 'token-only', 'bearer', 'github']),
        takes: v.exactOptional(v.picklist(['access_token', 'refresh_token'])),
      }),
    ),
    logoutUrl: v.exactOptional(template),
    cms: v.exactOptional(
      v.strictObject({
        name: v.picklist(['github', 'gitlab', 'bitbucket']),
        repositoryScopes: v.array(schemas.scope),
        apiRoot: template,
      }),
    ),
    issuer: v.exactOptional(template),
    issRequired: v.exactOptional(v.boolean()),
    requestHeaders: v.exactOptional(headers),
    userRejectedWhen: v.exactOptional(
      v.strictObject({ field: words, equals: v.union([v.string(), v.boolean()]) }),
    ),
  }),
  v.check(
    (preset) =>
      (['host', 'tenant'] as const).every((part) => uses(preset, part) === part in preset),
    'must declare the placeholders that it uses, and use those that it declares',
  ),
  v.check(
    ({ issuer, issRequired }) => issuer !== undefined || !issRequired,
    'must have an issuer to compare with the iss that it requires',
  ),
);

function uses(
  preset: { readonly authorizeUrl: string; readonly tokenUrl: string; readonly userUrl: string },
  part: string,
): boolean {
  return [preset.authorizeUrl, preset.tokenUrl, preset.userUrl].some((url) =>
    url.includes(`{${part}}`),
  );
}
