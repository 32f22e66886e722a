import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { canary } from '../../harness/expect/canaries.ts';
import { type FlagName, flagNames, variables } from '../../harness/project/option-names.ts';
import { type Serving, serveTcp } from '../../harness/provider/serve.ts';
import {
  type Ending,
  type Flags,
  type Invocation,
  runRelay,
} from '../../harness/relay/relay-process.ts';
import { secretFile } from '../../harness/relay/relay-under-test.ts';
import { issueCertificate } from '../../harness/system/certificate.ts';

interface Fault {
  flags?: Flags;
  env?: Record<string, string>;
  /** The options that the report must name. */
  of: FlagName[];
}

/** Flags without a fault, with these changes. */
function sound(file: string): Flags {
  return {
    origin: 'https://app.example',
    'base-url': 'https://relay.example',
    'client-id': 'client-1',
    'client-secret-file': file,
  };
}

const secrets: Record<string, (file: string) => Fault | Promise<Fault>> = {
  'no secret': () => ({ flags: { 'client-secret-file': undefined }, of: ['client-secret'] }),
  'a secret that is empty in the environment': () => ({
    flags: { 'client-secret-file': undefined },
    env: { PROVIDER_CLIENT_SECRET: '', PROVIDER_CLIENT_SECRET_FILE: '' },
    of: ['client-secret'],
  }),
  'a secret and a secret file as flags': () => ({
    flags: { 'client-secret': canary('secret') },
    of: ['client-secret', 'client-secret-file'],
  }),
  'a secret and a secret file in the environment': (file) => ({
    flags: { 'client-secret-file': undefined },
    env: { PROVIDER_CLIENT_SECRET: canary('secret'), PROVIDER_CLIENT_SECRET_FILE: file },
    of: ['client-secret', 'client-secret-file'],
  }),
  'a secret file that does not exist': (file) => ({
    flags: { 'client-secret-file': `${file}-of-nobody` },
    of: ['client-secret-file'],
  }),
  'a secret file that is a directory': (file) => ({
    flags: { 'client-secret-file': dirname(file) },
    of: ['client-secret-file'],
  }),
  'a secret file below a path that is not a directory': (file) => ({
    flags: { 'client-secret-file': join(file, 'secret') },
    of: ['client-secret-file'],
  }),
  'an empty secret file': async (file) => ({
    flags: { 'client-secret-file': await beside(file, '') },
    of: ['client-secret-file'],
  }),
  'a secret file with only a newline': async (file) => ({
    flags: { 'client-secret-file': await beside(file, '\n') },
    of: ['client-secret-file'],
  }),
  'a secret file of two lines': async (file) => ({
    flags: { 'client-secret-file': await beside(file, `${canary('secret')}\nmore\n`) },
    of: ['client-secret-file'],
  }),
  'a secret file with bytes that are not text': async (file) => ({
    flags: { 'client-secret-file': await beside(file, `${canary('secret')}\xff\0`) },
    of: ['client-secret-file'],
  }),
  'a secret that is not printable ASCII': () => ({
    flags: { 'client-secret-file': undefined, 'client-secret': `${canary('secret')}\n` },
    of: ['client-secret'],
  }),
  'an empty systemd credential': async (file) => ({
    flags: { 'client-secret-file': undefined },
    env: { CREDENTIALS_DIRECTORY: dirname(await beside(file, '')) },
    of: ['client-secret-file'],
  }),
  'a systemd credential that does not exist': (file) => ({
    flags: { 'client-secret-file': undefined },
    env: { CREDENTIALS_DIRECTORY: join(dirname(file), 'nowhere') },
    of: ['client-secret-file'],
  }),
};

/** A file with this content, in a new directory next to the given file. */
async function beside(file: string, content: string): Promise<string> {
  const directory = join(dirname(file), canary('code'));
  await mkdir(directory);
  const path = join(directory, 'provider-client-secret');
  await writeFile(path, content, { encoding: 'latin1', mode: 0o600 });
  return path;
}

/** The lines of a report about an option. */
function faultLines({ stderr }: Ending): string[] {
  return stderr.split('\n').filter((line) => /^\s*--/.test(line));
}

/** Checks that the command ended with a usage error. */
function expectRefusal({ code, stdout, stderr }: Ending): void {
  expect(code, stderr).to.equal(2);
  expect(stdout).to.equal('');
  expect(stderr, 'a stack trace').not.to.match(/^\s+at |node:|\.ts:\d/m);
}

/** Checks that one line of the report names both flag and variable. */
function expectNamed(ending: Ending, name: FlagName): void {
  const named = faultLines(ending).some(
    (line) => line.includes(`--${name} `) && new RegExp(`\\b${variables[name]}\\b`).test(line),
  );
  expect(named, `--${name} and ${variables[name]} in one line of: ${ending.stderr}`).to.equal(true);
}

/** Checks that the report has faults of exactly these options. */
function expectReport(ending: Ending, faults: FlagName[]): void {
  expectRefusal(ending);
  for (const name of faults) expectNamed(ending, name);
  // A fault of two options may be one line.
  expect(faultLines(ending).length, ending.stderr).to.be.at.least(1).and.at.most(faults.length);
}

/** Checks that the fault quotes the value. */
function expectQuoted(ending: Ending, name: FlagName, value: string): void {
  const line = faultLines(ending).find((one) => one.includes(`--${name} `)) ?? '';
  expect(ending.stderr).not.to.contain('hunter2');
  expect(line).to.contain(JSON.stringify(value));
}

describe('a configuration with faults', () => {
  // The port is in use. So a fault that is found only after listening would end with another code.
  let taken: Serving;
  let port: string;
  before(async () => {
    taken = await serveTcp(() => {});
    port = `${taken.port}`;
  });
  after(() => taken.close());

  async function runWith(
    change: (file: string) => Invocation | Promise<Invocation>,
  ): Promise<Ending> {
    const file = await secretFile(canary('secret'));
    const { flags, env } = await change(file);
    return await runRelay({ flags: { port, ...sound(file), ...flags }, ...(env && { env }) });
  }

  it('is refused without all required settings, with all faults at once', async () => {
    const ending = await runRelay({ flags: { port } });
    expectReport(ending, ['origin', 'client-id', 'client-secret']);
  });

  it('is refused if all required variables are empty', async () => {
    const ending = await runRelay({
      flags: { port },
      env: Object.fromEntries(Object.values(variables).map((variable) => [variable, ''])),
    });
    expectReport(ending, ['origin', 'client-id', 'client-secret']);
  });

  it('is refused with an empty base URL as a service of systemd, and only there', async () => {
    const empty = { flags: { 'base-url': undefined }, env: { BASE_URL: '' } };
    const asService = await runWith((file) => ({
      ...empty,
      env: { ...empty.env, CREDENTIALS_DIRECTORY: dirname(file) },
    }));
    expectReport(asService, ['base-url']);
    expect((await runWith(() => empty)).stderr).to.contain('already in use');
  });

  for (const name of ['origin', 'client-id'] as const) {
    it(`is refused without --${name}`, async () => {
      expectReport(await runWith(() => ({ flags: { [name]: undefined } })), [name]);
    });
  }

  it('is refused for port 0 without a base URL', async () => {
    const ending = await runWith(() => ({ flags: { port: '0', 'base-url': undefined } }));
    expectReport(ending, ['base-url']);
  });

  it('is refused if INSECURE_HTTP is neither true nor false', async () => {
    const ending = await runWith(() => ({ env: { INSECURE_HTTP: 'perhaps' } }));
    expectReport(ending, ['insecure-http']);
    expectQuoted(ending, 'insecure-http', 'perhaps');
  });

  it('is refused for link-local addresses even if plain http is allowed', async () => {
    const ending = await runWith(() => ({
      flags: { 'user-url': 'http://169.254.169.254/latest/meta-data' },
      env: { INSECURE_HTTP: 'true' },
    }));
    expectReport(ending, ['user-url']);
    expectQuoted(ending, 'user-url', 'http://169.254.169.254/latest/meta-data');
  });

  for (const [name, makeFault] of Object.entries(secrets)) {
    it(`is refused for ${name}`, async () => {
      let faults: FlagName[] = [];
      const ending = await runWith(async (file) => {
        const { flags, env, of } = await makeFault(file);
        faults = of;
        return { ...(flags && { flags }), ...(env && { env }) };
      });
      expectReport(ending, faults);
      // The output shows neither the secret, which the scan for canaries would find, nor its path.
      expect(ending.stderr).not.to.contain('login-relay-');
    });
  }

  it('is refused for a malformed port beside a valid certificate', async () => {
    const { cert, key, remove } = await issueCertificate('localhost');
    try {
      const ending = await runWith(async (file) => ({
        flags: {
          port: 'eighty',
          'base-url': undefined,
          'tls-cert': await beside(file, cert),
          'tls-key': await beside(file, key),
        },
      }));
      expectReport(ending, ['port']);
    } finally {
      await remove();
    }
  });

  it('is refused if requests and metrics have the same port', async () => {
    const ending = await runWith(() => ({ flags: { 'metrics-port': port } }));
    expectReport(ending, ['metrics-port']);
  });

  it('has all faults reported at once, one per line', async () => {
    const values: Flags = {
      port: '70000',
      host: 'not a host',
      origin: 'not an origin',
      'frontend-url': 'not a page',
      'base-url': 'not a base',
      'client-id': 'not\nan id',
      'client-secret-file': '/nowhere/secret',
      provider: 'nobody',
      'authorize-url': 'not a URL 1',
      'token-url': 'not a URL 2',
      'user-url': 'not a URL 3',
      'revocation-url': 'not a URL 4',
      scope: 'not "a scope"',
      'token-request': 'no request',
      'path-name': 'no name',
      'token-delivery': 'no delivery',
      'refresh-tokens': 'no kind',
      'refresh-lifetime': 'no days',
      'provider-timeout': 'no time',
      'log-level': 'no level',
      'log-format': 'no format',
    };
    const faulty = flagNames.filter((name) => name in values || name === 'insecure-http');
    const asFlags = await runRelay({ flags: values, env: { INSECURE_HTTP: 'perhaps' } });
    const asVariables = await runRelay({
      env: Object.fromEntries([
        ...Object.entries(values).map(([name, value]) => [
          flagNames.filter((flag) => flag === name).map((flag) => variables[flag])[0] ?? '',
          value ?? '',
        ]),
        ['INSECURE_HTTP', 'perhaps'],
      ]),
    });
    for (const ending of [asFlags, asVariables]) {
      expectReport(ending, faulty);
      expect(ending.stderr.split('\n').filter((line) => /^\s*--/.test(line))).to.have.lengthOf(
        faulty.length,
      );
      for (const name of faulty) {
        const value = values[name] ?? 'perhaps';
        if (name === 'client-secret-file') expect(ending.stderr).not.to.contain(value);
        else expectQuoted(ending, name, value);
      }
    }
  });

  it('is refused with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    const ending = await runWith(() => ({ env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } }));
    expect(ending.code).to.equal(2);
    expect(ending.stderr).to.contain('NODE_TLS_REJECT_UNAUTHORIZED');
  });

  it('is refused if Node would write requests, or open a debugger', async () => {
    for (const [name, value] of [
      ['NODE_DEBUG', 'http,https,net'],
      ['NODE_OPTIONS', '--inspect=127.0.0.1:0'],
    ] as const) {
      const ending = await runWith(() => ({ env: { [name]: value } }));
      expect(ending.code).to.equal(2);
      expect(ending.stderr).to.contain(`${name} must not `);
    }
  });
});

describe('a port that cannot be opened', () => {
  let taken: Serving;
  let port: string;
  before(async () => {
    taken = await serveTcp(() => {});
    port = `${taken.port}`;
  });
  after(() => taken.close());

  async function complaint(flags: Flags): Promise<string> {
    const file = await secretFile(canary('secret'));
    const complete = { ...sound(file), port: '0', ...flags };
    const { code, stdout, stderr } = await runRelay({ flags: complete });
    expect(code).to.equal(1);
    expect(stdout).not.to.contain('listening');
    expect(stderr).to.match(/^[^\n]+\n$/);
    return stderr;
  }

  it('ends the relay with one line and exit code 1 if it is in use', async () => {
    expect(await complaint({ port }))
      .to.contain(port)
      .and.to.contain('in use');
  });

  it('is named as the metrics port if it is that', async () => {
    expect(await complaint({ 'metrics-port': port }))
      .to.contain('metrics')
      .and.to.contain('in use');
  });

  it('is explained if the host is not an address of this machine', async () => {
    const host = '192.0.2.1';
    expect(await complaint({ host })).to.contain(`${host} is not an address of this machine`);
  });
});
