import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { ConfigError } from '../failures/start-errors.ts';
import { paths } from '../paths.ts';
import { httpUrl, isLoopback } from '../urls.ts';

/** The user's own page, which logs in at the demo's relay. */
export type OwnPage = Exclude<ReturnType<typeof parseOwnPage>, undefined>;

const schemas = {
  origin: v.pipe(
    v.string('is missing: --token-delivery is for a page of yours'),
    httpUrl,
    v.check(
      isLoopback,
      'must be on this machine, such as http://localhost:5173: at the demo anybody can log in under any name',
    ),
    v.check(({ pathname }) => pathname === '/', 'must have no path: give only http://host:port'),
    v.check(({ search }) => search === '', 'must have no query (?…): give only http://host:port'),
    v.transform((url) => url.origin),
  ),
  tokenDelivery: v.picklist(['query', 'fragment', 'code', 'session'], 'must be one of: query, fragment, code, session'),
};

const example = readFileSync(new URL('../../examples/plain/index.html', import.meta.url), 'utf8');
/** The lines of the plain example that another page needs: its elements and its script. */
const [exampleLines = ''] = /<p id="greeting">.*<\/script>/s.exec(example) ?? [];

/** Reads the flags about the user's own page; undefined if there are none. @throws {ConfigError} */
export function parseOwnPage(flags: { origin?: string; tokenDelivery?: string }) {
  const { origin: address, tokenDelivery: delivery } = flags;
  if (address === undefined && delivery === undefined) return undefined;
  const origin = parseFlag('--origin', schemas.origin, address);
  const tokenDelivery = parseFlag('--token-delivery', schemas.tokenDelivery, delivery ?? 'query');
  if (tokenDelivery === 'session' && !/^http:\/\/localhost(:|$)/.test(origin)) {
    throw new ConfigError([
      '--token-delivery session needs a page at http://localhost: the cookie stays on the relay’s own site',
    ]);
  }
  return { origin, tokenDelivery };
}

/** Validates the value of a flag. @throws {ConfigError} */
function parseFlag<Output>(flag: string, schema: v.GenericSchema<unknown, Output>, value: unknown) {
  const { success, output, issues } = v.safeParse(schema, value, { abortPipeEarly: true });
  if (success) return output;
  throw new ConfigError([`${flag} ${issues[0].message}`]);
}

/** Says what the user's own page needs: the names, and the script of the plain example. */
export function describeOwnPage(relayUrl: string, { origin, tokenDelivery }: OwnPage): string {
  const clientId = "clientId: 'app'";
  const mode = tokenDelivery === 'session' ? ", mode: 'session'" : '';
  const lines = exampleLines
    .replaceAll('\n\n', '\n')
    .replaceAll('http://localhost:8000', relayUrl)
    .replace(clientId, clientId + mode);
  return `
  Your page at ${origin} can log in here:

    issuer      ${relayUrl}/auth/provider
    client_id   app
    client      ${relayUrl}/client.js, or: npm i ${relayUrl}${paths.clientRelease}
                (not in a lock file that others use: they cannot reach this machine)

  Put this into the page:

${lines.replaceAll(/^(?=.)/gm, '    ')}
`;
}
