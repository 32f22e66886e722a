// A command line that logs a person in. It needs Node.js 20, and no library.
//
//   node login.js https://login.example.com/auth/github cli    as the native front end "cli" of the relay
//   node login.js http://localhost:8000/auth/provider          as an unregistered client
//
// --token prints the access token, and nothing else, to standard output.
// --resource https://wiki.example.com/ says what the token is for, if the front end has several resources.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

process.on('uncaughtException', ({ message, cause }) => {
  // The cause of "fetch failed" says why, such as a certificate that nobody trusts.
  const why = cause === undefined ? message : `${message} (${cause.message || cause.code})`;
  console.error(`You are not logged in: ${why}`);
  process.exit(1);
});
const options = { token: { type: 'boolean' }, resource: { type: 'string' } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [relay, client_id = await register()] = positionals;
const resource = values.resource && { resource: values.resource };
const tellPerson = values.token ? console.error : console.log;
const [state, code_verifier] = [1, 2].map(() => randomBytes(32).toString('base64url'));
const code_challenge = createHash('sha256').update(code_verifier).digest('base64url');

const server = createServer().listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const redirect_uri = `http://127.0.0.1:${server.address().port}/callback`;
const challenge = { code_challenge, code_challenge_method: 'S256' };
const start = { response_type: 'code', client_id, redirect_uri, state, ...challenge, ...resource };
const address = `${relay}?${new URLSearchParams(start)}`;
tellPerson(`Open ${address}`);
const opener = { darwin: 'open', win32: 'explorer' }[process.platform] ?? 'xdg-open';
spawn(opener, [address], { stdio: 'ignore' }).on('error', () => {}); // then the person opens it

const code = await new Promise((resolve, reject) => {
  server.on('request', ({ url }, response) => {
    const query = new URL(url, redirect_uri).searchParams;
    const isOurs = query.get('state') === state && query.get('iss') === relay;
    response.writeHead(isOurs ? 200 : 400, { Connection: 'close' }).end('You can close this page.');
    if (isOurs && query.has('code')) resolve(query.get('code'));
    else if (isOurs) reject(new Error(query.get('error_description')));
  });
});
server.close();

const form = { grant_type: 'authorization_code', client_id, redirect_uri, code, code_verifier };
const post = { method: 'POST', body: new URLSearchParams(form) };
const { access_token, identity } = await answerOf(`${relay}/token`, post);
tellPerson('You are', identity ? nameOf(identity) : await askForName(access_token));
if (values.token) console.log(access_token);

/** The name of a person at a resource. Some providers have no login names, and everybody has an id. */
function nameOf({ preferred_username, sub }) {
  return preferred_username ?? sub;
}

/** Asks the provider, through the relay. Only a token that is not for a resource is one of the provider. */
async function askForName(token) {
  const lookup = new URL(`/api/user?provider=${relay.split('/').at(-1)}`, relay);
  return (await answerOf(lookup, { headers: { Authorization: `Bearer ${token}` } })).login;
}

/** Any port is good then. @see RFC 8252 §7.3 */
async function register() {
  const metadata = { client_name: 'A command line', redirect_uris: ['http://127.0.0.1/callback'] };
  const headers = { 'Content-Type': 'application/json' };
  const request = { method: 'POST', body: JSON.stringify(metadata), headers };
  return (await answerOf(`${relay}/register`, request)).client_id;
}

async function answerOf(url, request) {
  const response = await fetch(url, request);
  const answer = await response.json();
  if (response.ok) return answer;
  throw new Error(answer.error_description ?? answer.detail);
}
