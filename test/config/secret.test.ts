import { inspect } from 'node:util';
import { expect } from 'chai';
import { Secret } from '../../src/sealing/secret.ts';
import { type Given, minimal, onlyFault, read } from './support/read.ts';

describe('a secret', () => {
  const secret = new Secret('canary');

  it('reveals its value by reveal()', () => {
    expect(secret.reveal()).to.equal('canary');
  });

  it('is masked if it is printed, joined or serialised', () => {
    const printed = [inspect(secret), inspect({ a: [secret] })];
    for (const shown of [`${secret}`, JSON.stringify({ secret }), ...printed]) {
      expect(shown).to.include('[secret]').and.not.include('canary');
    }
  });

  it('has no property that could be copied', () => {
    expect(Object.values({ ...secret })).to.deep.equal([]);
  });
});

describe('the client secret', () => {
  const bare = { FRONTEND_ORIGIN: minimal.FRONTEND_ORIGIN, PROVIDER_CLIENT_ID: 'client' };
  const files = {
    '/file': { text: 'from file\n' },
    '/cred/provider-client-secret': { text: 'from credential' },
  };
  const secretOf = (given: Given) => read({ files, ...given }).config.clientSecret.reveal();

  it('comes from the flags, else the variables, else the systemd credential', () => {
    const credential = { ...bare, CREDENTIALS_DIRECTORY: '/cred' };
    const variable = { ...credential, PROVIDER_CLIENT_SECRET: 'from variable' };
    const fileVariable = { ...credential, PROVIDER_CLIENT_SECRET_FILE: '/file' };
    const file = { clientSecretFile: '/file' };
    const flag = { clientSecret: 'from flag' };
    expect(secretOf({ environment: credential })).to.equal('from credential');
    expect(secretOf({ environment: variable })).to.equal('from variable');
    expect(secretOf({ environment: fileVariable })).to.equal('from file');
    expect(secretOf({ environment: variable, flags: file })).to.equal('from file');
    expect(secretOf({ environment: fileVariable, flags: flag })).to.equal('from flag');
  });

  it('is missing if the systemd credential is missing or empty, and the fault says where to put it', () => {
    const environment = { ...bare, CREDENTIALS_DIRECTORY: '/cred' };
    for (const given of [{}, { '/cred/provider-client-secret': { text: '\n' } }]) {
      expect(onlyFault({ environment, files: given }))
        .to.contain('/etc/login-relay/client-secret')
        .and.contain('systemd');
    }
  });

  it('is the content of its file without the final newline', () => {
    const given = { flags: { clientSecretFile: '/f' }, environment: bare };
    for (const text of ['a b', 'a b\n', 'a b\r\n']) {
      expect(secretOf({ ...given, files: { '/f': { text } } })).to.equal('a b');
    }
  });

  it('is refused if it is given in two ways, empty, not one line, or unreadable', () => {
    const unusable = { '/empty': {}, '/newline': { text: '\n' }, '/lines': { text: 'a\nb' } };
    const bad: Given[] = [
      { flags: { clientSecret: 'a', clientSecretFile: '/file' } },
      { environment: { ...minimal, PROVIDER_CLIENT_SECRET_FILE: '/file' } },
      ...[...Object.keys(unusable), '/missing'].map((path) => ({
        flags: { clientSecretFile: path },
      })),
      { environment: { ...bare, CREDENTIALS_DIRECTORY: '/missing' } },
      {},
    ];
    for (const given of bad) {
      const whole = { environment: bare, files: { ...files, ...unusable }, ...given };
      expect(onlyFault(whole), JSON.stringify(given)).to.match(/^--client-secret/);
    }
  });

  it('causes a warning if every user can read its file', () => {
    const { warnings } = read({
      files: { '/open': { text: 'a', readableByOthers: true } },
      flags: { clientSecretFile: '/open' },
      environment: bare,
    });
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(/^--client-secret-file .* every user can read/);
    expect(read({}).warnings).to.deep.equal([]);
  });

  it('causes a warning if it starts or ends with a space', () => {
    const environment = { ...minimal, PROVIDER_CLIENT_SECRET: ' secret' };
    expect(read({ environment }).warnings.join()).to.match(/^--client-secret .* space/);
    expect(read({ environment }).config.clientSecret.reveal()).to.equal(' secret');
  });
});
