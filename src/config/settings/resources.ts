import * as v from 'valibot';
import { claims } from '../../access/identity.ts';
import { longestBrowserLifetime, longestLifetime } from '../../resources/resource.ts';
import { httpUrl, providerUrl } from '../../urls.ts';
import * as schemas from '../schemas.ts';
import { createFileRowMaker } from './setting.ts';

/** The identifier of a resource. @see RFC 8707 §2 */
const identifier = v.pipe(
  schemas.toTheLetter(schemas.withoutQuery(httpUrl)),
  v.check(
    (text) => /^[^/]*\/\/[^/]*(\/[\w.~/-]*)?$/.test(text),
    'must have a path of letters, digits, hyphens, underscores, dots and tildes',
  ),
);

const claimNames = v.pipe(
  v.string(),
  v.transform((given) => given.split(' ')),
  v.array(schemas.oneOf(claims)),
);

const row = createFileRowMaker({ unquoted: true });

/** An entry of `resources`: an API or MCP server behind the login. */
export const resourceRows = {
  url: row('url', identifier, {
    help: 'public address of the resource, such as https://notes.example.com/mcp; its tokens are valid there only',
    otherwise: 'required',
    isAddress: true,
  }),
  provider: row('provider', schemas.names, {
    help: 'provider whose users it serves. With a list, also a list of one, every id that it learns begins with the name of the provider, as in github:583231; with several, people choose one',
    otherwise: 'required if there are several providers',
    repeatable: true,
    distinguishesList: true,
  }),
  identity: row('identity', claimNames, {
    help: 'what it learns besides id and login name: email (the primary verified one), groups (teams, where there are teams)',
    repeatable: true,
  }),
  lifetime: row('lifetime', schemas.minutes(5, longestLifetime / 60), {
    help: 'minutes until an access token expires',
    default: '60',
  }),
  scope: row('scope', schemas.scope, {
    help: 'scopes that the metadata shows to clients; the provider is not asked for them',
    separator: ' ',
  }),
  secretFile: row('secret-file', schemas.filePath, {
    help: 'file with the secret (32 or more characters) of the server that introspects tokens; a second line may hold the previous secret',
    otherwise: 'no introspection, only the check for proxies',
    secret: true,
  }),
  upstream: row('upstream', schemas.withoutQuery(providerUrl), {
    help: 'address of a server without a login of its own, such as http://127.0.0.1:9000/mcp: the relay takes its requests at url, and checks them',
    otherwise: 'requests to url do not pass the relay',
  }),
  token: row('token', schemas.oneOf(['none', 'provider']), {
    help: "what the upstream gets besides the identity: none, or provider (the provider's access token)",
    otherwise: 'none',
  }),
  openClients: row('open-clients', schemas.trueOrFalse, {
    help: "whether unregistered clients may act with the provider's token too, if the upstream gets it",
    otherwise: 'false',
  }),
};

const browserMinutes = schemas.minutes(5, longestBrowserLifetime / 60);

/** The settings of `browser`, in an entry of `resources`: how long a browser stays logged in there. */
export const browserRows = {
  lifetime: row('lifetime', browserMinutes, {
    help: "minutes after a login until the browser's cookie expires",
    default: '720',
  }),
  renew: row('renew', browserMinutes, {
    help: 'minutes after a login until the next page asks the provider again',
    default: '60',
  }),
};
