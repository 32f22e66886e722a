import * as v from 'valibot';
import { ConfigError } from '../start-errors.ts';
import { httpUrl, isLoopback } from '../urls.ts';

/** A page of the user's own that logs in at the demo's relay. */
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
  tokenDelivery: v.picklist(
    ['query', 'fragment', 'code', 'session'],
    'must be one of: query, fragment, code, session',
  ),
};

/**
 * Reads what the command line says about a page of the user's own.
 *
 * @returns undefined if there is none
 * @throws {ConfigError} unless it is a page of this machine: at the demo anybody can log in under any
 *   name
 */
export function parseOwnPage(flags: { origin?: string; tokenDelivery?: string }) {
  const { origin: address, tokenDelivery: delivery } = flags;
  if (address === undefined && delivery === undefined) return undefined;
  const origin = parse('--origin', schemas.origin, address);
  const tokenDelivery = parse('--token-delivery', schemas.tokenDelivery, delivery ?? 'query');
  if (tokenDelivery === 'session' && !/^http:\/\/localhost(:|$)/.test(origin)) {
    throw new ConfigError([
      '--token-delivery session needs a page at http://localhost: the cookie stays on the relay’s own site',
    ]);
  }
  return { origin, tokenDelivery };
}

function parse<Output>(flag: string, schema: v.GenericSchema<unknown, Output>, value: unknown) {
  const { success, output, issues } = v.safeParse(schema, value, { abortPipeEarly: true });
  if (success) return output;
  throw new ConfigError([`${flag} ${issues[0].message}`]);
}

/** What such a page needs to log in at this relay, for the terminal. */
export function describeOwnPage(relayUrl: string, { origin, tokenDelivery }: OwnPage): string {
  const mode = tokenDelivery === 'session' ? ", mode: 'session'" : '';
  return `
  Your page at ${origin} can log in here:

    issuer      ${relayUrl}/auth/provider
    client_id   app
    client      ${relayUrl}/client.js, or: npm i ${relayUrl}/client.tgz

  Put this into the page:

    <p id="greeting"></p>
    <p id="problem" role="alert"></p>
    <button id="log-in">Log in</button>
    <button id="log-out">Log out</button>
    <script type="module">
      import { createLogin } from '${relayUrl}/client.js';
      const login = createLogin({ relay: '${relayUrl}/auth/provider', clientId: 'app'${mode} });
      const show = (id, text) => { document.getElementById(id).textContent = text; };
      const fail = ({ message }) => show('problem', message); // such as: the person cancelled
      const greet = (user) => show('greeting', user ? \`Hello, \${user.login}\` : 'Not logged in');
      document.getElementById('log-in').onclick = () => login.login().catch(fail);
      document.getElementById('log-out').onclick = () => login.logout().catch(fail);
      login.onChange(() => login.user().then(greet, fail));
      login.ready.catch(fail);
    </script>
`;
}
