import { expect } from 'chai';
import { fileSettings } from '../../../src/config/settings/settings.ts';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { send } from '../../harness/client/http-client.ts';
import { newProofKey } from '../../harness/client/proof.ts';
import { logInTo, oauthStart, redemption, requestToken } from '../../harness/login/oauth-front-end.ts';
import { OAuthPage, tokensOf } from '../../harness/login/oauth-page.ts';
import { SessionPage, sessionOf, sessionOrigin } from '../../harness/login/session-page.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { RefreshingProvider } from '../../harness/provider/refreshing-provider.ts';
import { RelayProcess } from '../../harness/relay/relay-process.ts';
import {
  baseUrl,
  frontendOrigin,
  keyLine,
  loginPath,
  Relay,
  secretFile,
} from '../../harness/relay/relay-under-test.ts';
import { type CertificateFiles, certificateFiles } from '../../harness/system/certificate.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { MemoryServer, memoryProgram } from '../../harness/system/memory-server.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { startedOnce } from '../../harness/system/started-once.ts';
import { tlsPorts } from '../../harness/system/variant.ts';

const none = 'none';
const notesOrigin = 'https://notes.example';
const password = 'the password of the memory';

/** Every option of the whole relay with its values. Those of `shared-memory` and `tls` need further options. */
const options: Readonly<Record<string, readonly string[]>> = {
  host: [none, '0.0.0.0'],
  'insecure-http': [none, 'true'],
  tls: [none, 'on'],
  'max-connections': [none, '20'],
  'ready-policy': [none, 'all'],
  'rate-limit': [none, '1000'],
  'refused-exchanges': [none, '0'],
  'trusted-proxies': [none, '127.0.0.1'],
  'refresh-tokens': [none, 'bearer', 'off'],
  'refresh-lifetime': [none, '2'],
  'session-lifetime': [none, '2'],
  'session-idle': [none, '2'],
  'provider-timeout': [none, '5'],
  'key-file': ['one key', 'two keys'],
  'shared-memory': [none, 'without TLS', 'with TLS'],
  'session-check': [none, 'strict'],
  'log-level': [none, 'debug', 'silent'],
  'log-format': [none, 'json', 'pretty'],
  'log-client-address': [none, 'whole', 'cut'],
  'log-people': [none, 'true'],
  'metrics-port': [none, 'on'],
  'metrics-host': [none, '0.0.0.0'],
  'metrics-names': [none, 'relay1.example.com'],
};
const names = Object.keys(options);
const valuesOf = (name: string) => options[name] ?? [];

type Choice = Readonly<Record<string, string>>;

/** Choices of a value for each option, in which each two values of two options come together. */
function choicesWithEachPair(): Choice[] {
  const met = new Set<string>();
  const pairOf = (...two: [name: string, value: string][]) => `${two.sort()}`;
  const all = names.flatMap((name) => valuesOf(name).map((value) => ({ name, value })));
  const choices: Choice[] = [];
  for (const { name: first, value } of all) {
    for (const { name: second, value: its } of all) {
      if (first === second || met.has(pairOf([first, value], [second, its]))) continue;
      const choice = new Map([
        [first, value],
        [second, its],
      ]);
      for (const name of names.filter((one) => !choice.has(one))) {
        const newPairs = (one: string) => [...choice].filter((chosen) => !met.has(pairOf(chosen, [name, one]))).length;
        const [best = ''] = valuesOf(name).toSorted((a, b) => newPairs(b) - newPairs(a));
        choice.set(name, best);
      }
      for (const one of choice) for (const other of choice) met.add(pairOf(one, other));
      choices.push(Object.fromEntries(choice));
    }
  }
  return choices;
}

async function startMemory({ cert, key }: CertificateFiles) {
  const tlsPort = `${await freePort()}`;
  const tls = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-auth-clients', 'no'];
  const server = await MemoryServer.start('--tls-port', tlsPort, ...tls, '--requirepass', password);
  return { server, tlsPort, passwordFile: await secretFile(password) };
}

needsPrograms(memoryProgram).describe('a relay with each pair of options', () => {
  const provider = startedOnce(
    'the provider',
    () => RefreshingProvider.start(),
    (one) => one.stop(),
  );
  const certificate = startedOnce(
    'the certificate',
    () => certificateFiles('localhost'),
    (one) => one.remove(),
  );
  const memory = startedOnce(
    'the memory',
    () => startMemory(certificate()),
    ({ server }) => server.stop(),
  );

  /** The settings that a choice stands for. */
  async function settingsOf(choice: Choice): Promise<Record<string, string>> {
    const { tls, 'shared-memory': shared, 'key-file': keys, 'metrics-port': metrics } = choice;
    const { cert, key, authority } = certificate();
    const { server, tlsPort, passwordFile } = memory();
    const isSecure = shared === 'with TLS';
    const files: Record<string, string | undefined> = {
      ...choice,
      tls: undefined,
      'tls-cert': tls === 'on' ? cert : undefined,
      'tls-key': tls === 'on' ? key : undefined,
      'key-file': await secretFile(keys === 'one key' ? keyLine : `${keyLine}\nolder: ${keyLine}`),
      'metrics-port': metrics === 'on' ? `${await freePort()}` : undefined,
      'shared-memory': isSecure ? `rediss://localhost:${tlsPort}` : server.address,
      'shared-memory-password-file': passwordFile,
      'shared-memory-ca': isSecure ? await secretFile(authority) : undefined,
    };
    const given = Object.entries(files).filter((entry): entry is [string, string] => {
      const [name, value] = entry;
      const isUnused = shared === none && name.startsWith('shared-memory');
      return value !== undefined && value !== none && !isUnused;
    });
    return Object.fromEntries(given);
  }

  /** The configuration file of a relay whose front ends have codes, sessions and a resource. */
  async function fileOf(settings: Readonly<Record<string, string>>): Promise<string> {
    const { clientId, clientSecret } = provider().registration;
    const lines = (entries: object) => Object.entries(entries).map(([name, value]) => `${name}: ${value}\n`);
    const entry = { 'client-id': clientId, 'client-secret': clientSecret, ...provider().flags };
    return await secretFile(`${lines(settings).join('')}
providers:
  provider:
    ${lines(entry).join('    ')}
front-ends:
  app: { origin: ${frontendOrigin}, token-delivery: code }
  home: { origin: ${sessionOrigin}, token-delivery: session }
  notes: { origin: ${notesOrigin}, token-delivery: code, refresh-tokens: bearer, resources: [notes] }
resources: { notes: { url: "https://notes.example/mcp" } }
`);
  }

  async function expectLogins(relay: Relay, hasRefreshTokens: boolean): Promise<void> {
    const page = new OAuthPage(relay, provider(), await newProofKey());
    const { refreshToken } = await page.logIn();
    expect(refreshToken !== '').to.equal(hasRefreshTokens);
    if (hasRefreshTokens) tokensOf(await page.refresh(refreshToken));
    const session = new SessionPage(() => relay, provider());
    await session.logIn(`${loginPath}/home`);
    sessionOf(await session.refresh());
    expect((await session.lookUp()).status).to.equal(200);
    expect((await session.logOut()).status).to.equal(200);
    expect((await session.describe()).status).to.equal(401);
  }

  async function expectResource(relay: Relay): Promise<void> {
    const client = { client_id: 'notes', redirect_uri: `${notesOrigin}/` };
    const response = await logInTo(new FakeBrowser(() => relay), { provider: provider() }, oauthStart(client));
    const sending = { origin: notesOrigin };
    const { status: given, body } = await requestToken(relay, redemption(response, client), [], sending);
    expect(given, `${body}`).to.equal(200);
    const headers: [string, string][] = [['Authorization', `Bearer ${JSON.parse(`${body}`).access_token}`]];
    const { status } = await send(relay.port, { path: '/auth/check/notes', headers });
    expect(status).to.equal(204);
  }

  const choices = choicesWithEachPair();

  it('has each option that a file can give a relay', async () => {
    const given = await Promise.all(choices.map(settingsOf));
    const keys = new Set(given.flatMap(Object.keys).concat('port', 'base-url'));
    expect([...keys]).to.have.members(fileSettings.relay.map(({ key }) => key));
  });

  for (const choice of choices) {
    const chosen = Object.entries(choice).filter(([, value]) => value !== none);
    it(`logs in and refreshes: ${chosen.map((one) => one.join(' ')).join(', ')}`, async () => {
      provider().forget();
      provider().onUser = json({ sub: '42' });
      const port = await freePort();
      const settings = await settingsOf(choice);
      const config = await fileOf({ port: `${port}`, 'base-url': baseUrl, ...settings });
      const relay = new Relay(new RelayProcess({ flags: { config } }), port);
      if (choice['tls'] === 'on') tlsPorts.add(port);
      try {
        await eventually(async () => expect((await relay.get('/readyz')).status).to.equal(200));
        await expectLogins(relay, choice['refresh-tokens'] !== 'off');
        await expectResource(relay);
        if (settings['metrics-port'] !== undefined) {
          const metrics = await send(Number(settings['metrics-port']), { path: '/metrics' });
          const up = /^login_relay_memory_up 1$/m.test(`${metrics.body}`);
          expect(up).to.equal(choice['shared-memory'] !== none);
        }
      } finally {
        await relay.stop();
        tlsPorts.delete(port);
      }
    });
  }
});
