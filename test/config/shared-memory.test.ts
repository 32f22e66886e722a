import { expect } from 'chai';
import type { OptionName } from '../../src/config/settings/settings.ts';
import { parseMemoryAddress } from '../../src/memory/redis-client.ts';
import { faults, type Given, minimal, onlyFault, read } from './support/read.ts';

const files = {
  '/key': { text: 'k'.repeat(40) },
  '/password': { text: 'correct horse\n' },
  '/credentials/shared-memory-password': { text: 'battery staple' },
  '/ca.pem': { text: 'a certificate', readableByOthers: true },
};
const given = (flags: Partial<Record<OptionName, string>>, environment = minimal): Given => ({
  flags: { keyFile: '/key', ...flags },
  environment,
  files,
});

describe('--shared-memory', () => {
  for (const [address, kind, nodes, name] of [
    ['redis://127.0.0.1', 'server', ['127.0.0.1:6379'], ''],
    ['redis://localhost:80/2', 'server', ['localhost:80'], '2'],
    ['rediss://relay@memory.example', 'server', ['memory.example:6379'], ''],
    ['redis://[::1]:7000', 'server', ['::1:7000'], ''],
    ['unix:/run/valkey/socket', 'socket', [], '/run/valkey/socket'],
    ['redis+sentinel://localhost,[::1]:1/main', 'sentinel', ['localhost:26379', '::1:1'], 'main'],
    ['rediss+cluster://a.example:1,b.example', 'cluster', ['a.example:1', 'b.example:6379'], ''],
  ] as const) {
    it(`takes ${address}`, () => {
      expect(read(given({ sharedMemory: address })).config.memory).to.deep.include({ address });
      const parsed = parseMemoryAddress(address);
      expect(parsed).to.include({ kind, name });
      expect(parsed?.nodes.map(({ host, port }) => `${host}:${port}`)).to.deep.equal(nodes);
    });
  }

  for (const address of [
    'redis://:secret@127.0.0.1',
    'redis://relay:secret@127.0.0.1',
    'redis://relay:@127.0.0.1',
    'http://127.0.0.1',
    'redis://',
    'redis://a,b',
    'redis://127.0.0.1:99999',
    'redis://:80',
    'redis://%@127.0.0.1',
    'redis://127.0.0.1/name',
    'redis://127.0.0.1?password=secret',
    'redis+cluster://a,,b',
    'redis+cluster://localhost/2',
    'redis+sentinel://localhost',
    'unix:socket',
  ]) {
    it(`refuses ${address}, and does not quote it`, () => {
      expect(onlyFault(given({ sharedMemory: address })))
        .to.match(/^--shared-memory \(SHARED_MEMORY\) must be redis:\/\//)
        .and.not.include('secret');
    });
  }

  it('needs a key file', () => {
    expect(faults({ flags: { sharedMemory: 'redis://127.0.0.1' } })).to.deep.equal([
      '--key-file (KEY_FILE) is required with --shared-memory (SHARED_MEMORY): relays must read what other relays sealed',
    ]);
  });

  it('needs TLS beyond this machine, unless plain connections are allowed', () => {
    for (const sharedMemory of ['redis://10.0.0.1', 'redis+cluster://localhost,10.0.0.1']) {
      expect(faults(given({ sharedMemory }))).to.deep.equal([
        '--shared-memory (SHARED_MEMORY) must use TLS (rediss:) beyond this machine, unless --insecure-http (INSECURE_HTTP) allows it',
      ]);
      expect(faults(given({ sharedMemory, insecureHttp: 'true' }))).to.deep.equal([]);
    }
  });

  it('has its password in a file or a credential', () => {
    const flags = { sharedMemory: 'redis://127.0.0.1' };
    const passwordOf = (one: Given) => read(one).config.memory?.password?.reveal();
    const withCredentials = { ...minimal, CREDENTIALS_DIRECTORY: '/credentials' };
    expect(passwordOf(given(flags))).to.equal(undefined);
    expect(passwordOf(given(flags, withCredentials))).to.equal('battery staple');
    const file = { ...flags, sharedMemoryPasswordFile: '/password' };
    expect(passwordOf(given(file, withCredentials))).to.equal('correct horse');
  });

  it('may have its own certificate authority, with TLS', () => {
    const ca = { sharedMemoryCa: '/ca.pem' };
    const { config, warnings } = read(given({ sharedMemory: 'rediss://10.0.0.1', ...ca }));
    expect(config.memory?.ca).to.equal('a certificate');
    expect(warnings).to.deep.equal([]);
    expect(faults(given({ sharedMemory: 'redis://127.0.0.1', ...ca }))).to.deep.equal([
      '--shared-memory-ca (SHARED_MEMORY_CA) "/ca.pem" needs an address with TLS (rediss:)',
    ]);
  });

  it('is missed by its other options', () => {
    const flags = { sharedMemoryPasswordFile: '/password', sessionCheck: 'strict' };
    expect(read(given(flags)).warnings).to.deep.equal([
      '--shared-memory-password-file (SHARED_MEMORY_PASSWORD_FILE) has no effect without --shared-memory (SHARED_MEMORY)',
      '--session-check (SESSION_CHECK) has no effect without --shared-memory (SHARED_MEMORY)',
    ]);
  });
});
