import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { type ClientsRelay, clientsRelay, jsonOf } from '../../clients/support/clients-relay.ts';
import type { Answer } from '../../harness/client/request.ts';
import type { Parameters } from '../../harness/login/oauth-front-end.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import type { Settings } from '../../harness/relay/relay-of-file.ts';
import { ada, files, notes, settings as ofPeople } from './resources-relay.ts';

export const ciSecret = 'the secret of ci, of thirty-two characters';
export const oldSecret = 'the secret of ci, as it was until yesterday';
export const botSecret = 'the secret of bot, of thirty-two characters';

/** The keys of the machines that sign. */
export const keys = {
  robot: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  crane: generateKeyPairSync('ed25519'),
  truck: generateKeyPairSync('rsa', { modulusLength: 2048 }),
};

export const pemOf = (key: KeyObject): string => key.export({ format: 'pem', type: 'spki' }).toString();

export const machines = {
  ci: '  ci: { kind: machine, secret-file: ./ci, resources: [notes] }\n',
  bot: '  bot: { kind: machine, secret-file: ./bot, resources: [notes, files] }\n',
  robot: '  robot: { kind: machine, public-key-file: ./robot, resources: [notes] }\n',
  crane: '  crane: { kind: machine, public-key-file: ./crane, resources: [notes] }\n',
  truck: '  truck: { kind: machine, public-key-file: ./truck, resources: [notes] }\n',
} as const;

/** Pages and programs of people, and machines, with the same resources. */
export function settings({
  changes = {},
  texts = {},
}: {
  changes?: Record<string, string>;
  texts?: Record<string, string>;
} = {}): Settings {
  const { frontEnds, files: ofResources, ...others } = ofPeople;
  return {
    ...others,
    frontEnds: frontEnds + Object.values({ ...machines, ...changes }).join(''),
    files: {
      ...ofResources,
      './ci': `${ciSecret}\n${oldSecret}\n`,
      './bot': botSecret,
      './robot': JSON.stringify(keys.robot.publicKey.export({ format: 'jwk' })),
      './crane': pemOf(keys.crane.publicKey),
      './truck': pemOf(keys.truck.publicKey),
      ...texts,
    },
  };
}

const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const algorithms = { robot: 'ES256', crane: 'EdDSA', truck: 'RS256' } as const;

/** The claims that a machine signs, by its name. */
export type Signing = keyof typeof algorithms;

/** An assertion of a machine. @param changes claims that replace the right claims; an undefined claim is left out */
export async function assertionOf(
  relay: ClientsRelay,
  name: Signing = 'robot',
  changes: Readonly<Record<string, unknown>> = {},
  alg: string = algorithms[name],
  key: KeyObject = keys[name].privateKey,
): Promise<string> {
  const now = Math.floor((Date.now() + relay.ahead) / 1000);
  const claims = {
    iss: name,
    sub: name,
    aud: `${relay.address}/auth/provider`,
    iat: now,
    exp: now + 300,
    jti: randomUUID(),
    ...changes,
  };
  const present = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
  return await new SignJWT(present).setProtectedHeader({ alg }).sign(key);
}

/** The form of a request with an assertion. */
export const asserted = (client_assertion: string): Parameters => ({
  client_assertion_type: jwtBearer,
  client_assertion,
});

export const basic = (name: string, secret: string): [string, string] => [
  'Authorization',
  `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`,
];

/** Asks for a token as a machine. */
export async function ask(
  relay: ClientsRelay,
  form: Parameters,
  ...headers: [name: string, value: string][]
): Promise<Answer> {
  return await relay.post('token', { grant_type: 'client_credentials', ...form }, headers);
}

/** The token of a machine. @throws {Error} if it gets none */
export async function tokenOf(relay: ClientsRelay, form: Parameters = ofCi): Promise<string> {
  const { access_token: token } = jsonOf(await ask(relay, form));
  if (typeof token !== 'string') throw new Error('no token');
  return token;
}

export const ofCi = { client_id: 'ci', client_secret: ciSecret };
export const ofBot = { client_id: 'bot', client_secret: botSecret };
export { files, notes };

export function machinesRelay(): () => ClientsRelay {
  const relay = clientsRelay(settings);
  beforeEach(async () => {
    await relay().restart(settings());
    relay().provider.knows(json(ada));
  });
  return relay;
}
