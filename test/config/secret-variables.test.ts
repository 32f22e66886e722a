import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { expect } from 'chai';
import { wipeSecrets } from '../../src/config/secret-variables.ts';
import { faultsOfFile, minimal, onlyFault, read } from './support/read.ts';

const key = 'k'.repeat(40);
const password = 'correct horse';

describe('the variable KEY', () => {
  const keysOf = (environment: Record<string, string>) =>
    read({ environment: { ...minimal, ...environment } }).config.keySecrets?.map((one) => one.reveal());

  it('is the key, with a warning that does not have it', () => {
    const { config, warnings } = read({ environment: { ...minimal, KEY: key } });
    expect(config.keySecrets?.map((one) => one.reveal())).to.deep.equal([key]);
    expect(config.keyFile).to.equal(undefined);
    expect(warnings.join())
      .to.match(/KEY can be read/)
      .and.not.include(key);
  });

  it('may have a second line with the previous secret', () => {
    const other = 'o'.repeat(32);
    expect(keysOf({ KEY: `${key}\n${other}\n` })).to.deep.equal([key, other]);
  });

  it('takes precedence over the files of systemd, but not over a file that is named', () => {
    expect(keysOf({ KEY: key, STATE_DIRECTORY: '/state', CREDENTIALS_DIRECTORY: '/credentials' })).to.deep.equal([key]);
    const files = { '/key': { text: key } };
    expect(onlyFault({ environment: { ...minimal, KEY: key, KEY_FILE: '/key' }, files })).to.include('only one');
  });

  it('is enough for what needs a key', () => {
    const environment = { ...minimal, KEY: key, SHARED_MEMORY: 'redis://127.0.0.1' };
    expect(read({ environment }).config.memory).not.to.equal(undefined);
  });

  for (const value of ['short', '$KEY', `${key}\n${key}\n${key}`, `"${key}"`]) {
    it(`is a fault as ${JSON.stringify(value).slice(0, 20)}, which the fault does not have`, () => {
      expect(onlyFault({ environment: { ...minimal, KEY: value } }))
        .to.match(/^KEY /)
        .and.not.include(value);
    });
  }

  it('counts as unset if it is empty', () => {
    expect(keysOf({ KEY: '' })).to.equal(undefined);
  });
});

describe('the password of the shared memory', () => {
  const memoryOf = (more: Record<string, string>) => {
    const { config, warnings } = read({ environment: { ...minimal, KEY: key, ...more } });
    return { ...config.memory, password: config.memory?.password?.reveal(), warnings: warnings.join() };
  };

  for (const [name, variables, address] of [
    ['its variable', { SHARED_MEMORY: 'redis://u@127.0.0.1', SHARED_MEMORY_PASSWORD: password }, 'redis://u@127.0.0.1'],
    ['the URL', { SHARED_MEMORY: 'redis://:correct%20horse@127.0.0.1:80/2' }, 'redis://127.0.0.1:80/2'],
    ['the URL with a user', { SHARED_MEMORY: 'rediss://h:correct horse@redis.example' }, 'rediss://h@redis.example'],
    ['the URL of a Cluster', { SHARED_MEMORY: 'rediss+cluster://h:correct horse@a,b:1' }, 'rediss+cluster://h@a,b:1'],
  ] as const) {
    it(`may be in ${name}, with a warning, and is not shown with the address`, () => {
      const memory = memoryOf(variables);
      expect(memory).to.include({ address, password });
      expect(memory.warnings).to.include('holds a password').and.not.include('horse');
    });
  }

  it('is a fault in a URL of the file or a flag, and if there are two', () => {
    const url = 'redis://:correct-horse@127.0.0.1';
    const text = `
key-file: ./key
shared-memory: '${url}'
providers: { github: { client-id: a, client-secret: b } }
front-ends: { app: { origin: https://app.example.com } }
`;
    const environment = { ...minimal, KEY: key };
    const both = { ...environment, SHARED_MEMORY: url, SHARED_MEMORY_PASSWORD: password };
    const found = [
      ...faultsOfFile(text),
      onlyFault({ environment, flags: { sharedMemory: url } }),
      onlyFault({ environment: both }),
    ];
    expect(found).to.have.lengthOf(3);
    expect(found.join()).not.to.include('horse');
  });
});

describe('variables with secrets', () => {
  it('are removed, others stay', () => {
    const memory = { SHARED_MEMORY: 'redis://:password@127.0.0.1', SHARED_MEMORY_PASSWORD: password };
    const environment = { ...minimal, KEY: key, PATH: '/bin', ...memory };
    wipeSecrets(environment);
    const { PROVIDER_CLIENT_SECRET: _, ...others } = minimal;
    expect(environment).to.deep.equal({ ...others, PATH: '/bin' });
  });

  it('are not in the environment of what the program starts', () => {
    const variables = { ...minimal, KEY: 'k4n4ry'.repeat(8), SHARED_MEMORY_PASSWORD: 'p4ssw0rd' };
    const program = `
      import { execFileSync } from 'node:child_process';
      import { main } from './src/cli/main.ts';
      await main(['config', 'check', '--origin', 'https://app.example.com'], process.env);
      console.log(execFileSync('/usr/bin/env').toString(), process.title);
    `;
    const output = execFileSync(process.execPath, ['--input-type=module-typescript', '--eval', program], {
      env: { ...variables, SHARED_MEMORY: 'redis://127.0.0.1', PATH: process.env['PATH'] },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect(output)
      .to.include('valid')
      .and.include('SHARED_MEMORY=redis')
      .and.not.match(/k4n4ry|p4ssw0rd/);
  });
});

describe('NODE_EXTRA_CA_CERTS', () => {
  const [pem = ''] = rootCertificates;
  const environment = { ...minimal, NODE_EXTRA_CA_CERTS: '/ca' };
  for (const [name, files, fault] of [
    ['is missing', {}, /does not exist/],
    ['is DER', { '/ca': { text: new X509Certificate(pem).raw.toString() } }, /PEM/],
    ['is empty', { '/ca': { text: '' } }, /PEM/],
    ['is cut off', { '/ca': { text: `${pem}\n${pem.replace(/\n.{40}/, '\n')}` } }, /cannot be read/],
  ] as const) {
    it(`is a fault if its file ${name}`, () => {
      expect(onlyFault({ environment, files }))
        .to.match(/^NODE_EXTRA_CA_CERTS /)
        .and.match(fault);
    });
  }

  it('takes several certificates, with texts between them', () => {
    read({ environment, files: { '/ca': { text: `# mine\n${pem}\n# theirs\n${pem}\n` } } });
  });
});
