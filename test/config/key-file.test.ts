import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type NewFiles, newFiles, readTextFile } from '../../src/text-files.ts';
import { faults, type Given, minimal, onlyFault, read } from './support/read.ts';

const secret = 'k'.repeat(32);

function secretsOf(given: Given): readonly string[] | undefined {
  return read(given).config.keySecrets?.map((one) => one.reveal());
}

function failing(code: string): () => never {
  return () => {
    throw Object.assign(new Error(), { code });
  };
}

describe('the key file', () => {
  const flags = { keyFile: '/keys' };

  it('contains the current and the previous secret, one per line', () => {
    const secretsIn = (text: string) => secretsOf({ flags, files: { '/keys': { text } } });
    expect(secretsIn(`${secret}\n`)).to.deep.equal([secret]);
    expect(secretsIn(`${secret}1\n${secret}2\n`)).to.deep.equal([`${secret}1`, `${secret}2`]);
  });

  it('is refused if a line is short, if there are three lines, and if it does not exist', () => {
    const three = [secret, secret, secret].join('\n');
    for (const text of ['', 'short', `${secret}\nshort`, `${secret}\n\n`, three]) {
      const lines = faults({ flags, files: { '/keys': { text } } });
      expect(lines, JSON.stringify(text)).to.have.length(1);
    }
    expect(onlyFault({ flags })).to.equal('--key-file (KEY_FILE) names a file that does not exist');
  });

  it('is the systemd credential, unless an option names a file', () => {
    const environment = { ...minimal, CREDENTIALS_DIRECTORY: '/cred' };
    const files = { '/cred/key': { text: secret }, '/keys': { text: `${secret}1` } };
    expect(secretsOf({ environment, files })).to.deep.equal([secret]);
    expect(secretsOf({ environment, files, flags })).to.deep.equal([`${secret}1`]);
    const short = { '/cred/key': { text: 'short' } };
    expect(faults({ environment, files: short })).to.have.length(1);
  });

  it('is in the systemd state directory if the credential is missing or blank', () => {
    const STATE_DIRECTORY = '/var/lib/login-relay:/var/lib/other';
    const environment = { ...minimal, CREDENTIALS_DIRECTORY: '/cred', STATE_DIRECTORY };
    for (const credential of [{}, { '/cred/key': { text: '\n' } }]) {
      const files = { ...credential, '/var/lib/login-relay/key': { text: secret } };
      expect(secretsOf({ environment, files })).to.deep.equal([secret]);
    }
    const files = { '/cred/key': { text: secret } };
    expect(read({ environment, files }).config.keyFile).to.equal('/cred/key');
  });

  describe('that does not exist', () => {
    let directory: string;
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'login-relay-'));
    });
    afterEach(() => rmSync(directory, { recursive: true }));

    const check: NewFiles = { expectCreatable: newFiles.expectCreatable };
    const serve: NewFiles = { ...check, create: newFiles.create };

    const givenTo = (newFiles: NewFiles, path = join(directory, 'key')): Given => ({
      flags: { keyFile: path },
      readFile: readTextFile,
      newFiles,
    });

    it('is created with 32 random bytes, and only its owner can read it', () => {
      const [created = ''] = secretsOf(givenTo(serve)) ?? [];
      expect(created).to.match(/^[\w-]{43}$/);
      expect(readFileSync(join(directory, 'key'), 'utf8')).to.equal(`${created}\n`);
      expect(statSync(join(directory, 'key')).mode & 0o777).to.equal(0o600);
      expect(readdirSync(directory)).to.deep.equal(['key']);
      expect(secretsOf(givenTo(serve))).to.deep.equal([created]);
    });

    it('is created in the systemd state directory', () => {
      const environment = { ...minimal, STATE_DIRECTORY: directory };
      const given = { ...givenTo(serve), flags: {}, environment };
      expect(read(given).config.keyFile).to.equal(join(directory, 'key'));
      expect(readdirSync(directory)).to.deep.equal(['key']);
    });

    it('causes a warning with its name only when it is created', () => {
      expect(read(givenTo(serve)).warnings).to.deep.equal([
        `--key-file (KEY_FILE) names a file that did not exist: created ${join(directory, 'key')}. Replicas need a copy of it`,
      ]);
      expect(read(givenTo(serve)).warnings).to.deep.equal([]);
    });

    it('is not replaced if another process creates it at the same moment', () => {
      const meanwhile: NewFiles = {
        ...serve,
        create(path, text) {
          writeFileSync(path, `${secret}\n`, { mode: 0o600 });
          return newFiles.create(path, text);
        },
      };
      const { config, warnings } = read(givenTo(meanwhile));
      expect(config.keySecrets?.map((one) => one.reveal())).to.deep.equal([secret]);
      expect(warnings).to.deep.equal([]);
      expect(readdirSync(directory)).to.deep.equal(['key']);
    });

    it('is announced, but not created, by a command that only checks', () => {
      const { config, warnings } = read(givenTo(check));
      expect(config.keySecrets).to.have.length(1);
      expect(warnings.join()).to.contain(`serve will create ${join(directory, 'key')}`);
      expect(readdirSync(directory)).to.deep.equal([]);
    });

    it('is not created if the configuration has faults', () => {
      expect(faults({ ...givenTo(serve), environment: {} })).to.have.length(3);
      expect(readdirSync(directory)).to.deep.equal([]);
    });

    it('is refused in a directory that does not exist', () => {
      for (const newFiles of [serve, check]) {
        expect(faults(givenTo(newFiles, join(directory, 'none', 'key')))).to.deep.equal([
          '--key-file (KEY_FILE) names a file in a directory that does not exist',
        ]);
      }
    });

    it('is refused in a directory that cannot be written to, with all other faults', () => {
      const reasons = { EACCES: 'may not write to', EROFS: 'read-only', EIO: 'cannot be created' };
      for (const [code, reason] of Object.entries(reasons)) {
        const newFiles = { ...serve, expectCreatable: failing(code) };
        const lines = faults({ ...givenTo(newFiles), environment: {} });
        expect(lines, code).to.have.length(4);
        expect(lines.join()).to.contain(reason);
      }
    });

    it('is refused if its creation fails after a successful check', () => {
      const newFiles = { ...serve, create: failing('ENOSPC') };
      expect(faults(givenTo(newFiles))).to.deep.equal([
        '--key-file (KEY_FILE) names a file that does not exist and cannot be created. Create it with one line of 32 or more characters',
      ]);
    });

    it('is not created under a name without a slash, which may be a secret by mistake', () => {
      expect(onlyFault(givenTo(serve, 'b5a1c0de')))
        .to.match(/does not exist. To create it in this directory, start the path with \.\/$/)
        .and.not.contain('b5a1c0de');
    });
  });
});
