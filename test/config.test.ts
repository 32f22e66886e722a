import { expect } from 'chai';
import { type Config, ConfigError, readConfig } from '../src/config.ts';
import type { OptionName } from '../src/options.ts';
import type { TextFile } from '../src/secret-file.ts';

const minimal = {
  FRONTEND_ORIGIN: 'https://app.example.com',
  PROVIDER_CLIENT_ID: 'client',
  PROVIDER_CLIENT_SECRET: 'secret',
};

interface Given {
  flags?: Partial<Record<OptionName, string | string[]>>;
  environment?: Record<string, string>;
  files?: Record<string, Partial<TextFile>>;
}

function read({ flags = {}, environment = minimal, files = {} }: Given) {
  const lists: Partial<Record<OptionName, string[]>> = {};
  for (const [name, value] of Object.entries(flags)) lists[name as OptionName] = [value].flat();
  return readConfig({
    flags: lists,
    environment,
    readFile(path) {
      const file = files[path];
      if (!file) throw Object.assign(new Error(path), { code: 'ENOENT' });
      return { text: '', readableByOthers: false, ...file };
    },
  });
}

const config = (given: Given): Config => read(given).config;

function faults(given: Given): readonly string[] {
  try {
    read(given);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe('the configuration', () => {
  it('needs an origin, a client identifier and a secret, and has a default for the rest', () => {
    const { clientSecret, ...rest } = config({});
    expect(clientSecret.reveal()).to.equal('secret');
    expect(rest).to.deep.equal({
      port: 8000,
      host: '127.0.0.1',
      redirectUri: 'http://localhost:8000/auth/provider/callback',
      origin: 'https://app.example.com',
      frontendUrl: 'https://app.example.com/',
      tokenDelivery: 'query',
      errorDelivery: 'json',
      clientId: 'client',
      provider: {
        name: 'github',
        authorizeUrl: 'https://github.com/login/oauth/authorize',
        tokenUrl: 'https://github.com/login/oauth/access_token',
        userUrl: 'https://api.github.com/user',
        tokenRequest: 'query',
        pkce: true,
        issuer: 'https://github.com/login/oauth',
      },
      scope: undefined,
      pathName: 'provider',
      providerTimeout: 10_000,
      stateCheck: 'browsers',
      stateKeys: undefined,
      logLevel: 'info',
      logFormat: undefined,
    });
  });

  it('cannot be changed once it is read', () => {
    const frozen = config({});
    expect(Object.isFrozen(frozen) && Object.isFrozen(frozen.provider)).to.equal(true);
  });

  it('takes the flag where flag and variable are both given', () => {
    expect(config({ flags: { port: '1' }, environment: { ...minimal, PORT: '2' } }).port).to.equal(
      1,
    );
  });

  it('takes an empty variable as unset', () => {
    expect(config({ environment: { ...minimal, PORT: '', BASE_URL: '' } }).port).to.equal(8000);
  });

  it('builds the callback URL from base URL and path name', () => {
    for (const baseUrl of ['https://login.example.com/relay', 'https://login.example.com/relay/']) {
      expect(config({ flags: { baseUrl, pathName: 'github' } }).redirectUri).to.equal(
        'https://login.example.com/relay/auth/github/callback',
      );
    }
  });

  it('lets each endpoint of the preset be replaced', () => {
    const { provider } = config({ flags: { userUrl: 'https://ghe.example.com/api/v3/user' } });
    expect(provider.userUrl).to.equal('https://ghe.example.com/api/v3/user');
    expect(provider.tokenUrl).to.equal('https://github.com/login/oauth/access_token');
  });

  it('expects no issuer of the preset’s at another authorization endpoint', () => {
    const authorizeUrl = 'https://ghe.example.com/login/oauth/authorize';
    expect(config({ flags: { authorizeUrl } }).provider).to.not.have.property('issuer');
  });

  it('reports every fault at once, each with flag and variable, none with a value', () => {
    const lines = faults({
      flags: { port: '65536x', logLevel: 'canary', providerTimeout: '0' },
      environment: { FRONTEND_ORIGIN: 'https://canary.example.com/path' },
    });
    expect(lines.join('\n')).to.not.match(/canary|65536x/);
    expect(lines.map((line) => line.split(' ').slice(0, 2).join(' ')).sort()).to.deep.equal([
      '--client-id (PROVIDER_CLIENT_ID)',
      '--client-secret (PROVIDER_CLIENT_SECRET)',
      '--log-level (LOG_LEVEL)',
      '--origin (FRONTEND_ORIGIN)',
      '--port (PORT)',
      '--provider-timeout (PROVIDER_TIMEOUT)',
    ]);
  });

  it('reports a malformed required value as malformed, not as missing too', () => {
    expect(
      faults({ environment: { ...minimal, FRONTEND_ORIGIN: 'app.example.com' } }),
    ).to.have.length(1);
  });

  it('refuses to go without checking the provider’s certificate', () => {
    const lines = faults({ environment: { ...minimal, NODE_TLS_REJECT_UNAUTHORIZED: '0' } });
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/^NODE_TLS_REJECT_UNAUTHORIZED /);
  });

  it('refuses a flag that is given twice', () => {
    expect(faults({ flags: { port: ['1', '2'] } })).to.deep.equal([
      '--port (PORT) is given more than once',
    ]);
  });

  it('refuses a front-end page outside the origin', () => {
    expect(faults({ flags: { frontendUrl: 'https://other.example.com/app' } })).to.have.length(1);
    expect(config({ flags: { frontendUrl: 'https://app.example.com/app' } }).frontendUrl).to.equal(
      'https://app.example.com/app',
    );
  });

  it('needs a base URL where any free port is taken', () => {
    expect(faults({ flags: { port: '0' } })[0]).to.match(/^--base-url \(BASE_URL\) is required/);
    expect(config({ flags: { port: '0', baseUrl: 'http://localhost:1' } }).port).to.equal(0);
  });

  describe('on plain http', () => {
    const addresses: OptionName[] = ['baseUrl', 'origin', 'authorizeUrl', 'tokenUrl', 'userUrl'];

    it('accepts addresses of this machine', () => {
      for (const name of addresses) {
        for (const host of ['localhost:3', '127.0.0.1', '127.9.9.9:1', '[::1]:8', 'a.localhost']) {
          expect(faults({ flags: { [name]: `http://${host}` } }), `${name} ${host}`).to.deep.equal(
            [],
          );
        }
      }
    });

    it('refuses addresses beyond this machine, unless they are allowed', () => {
      for (const name of addresses) {
        for (const host of ['example.com', '10.0.0.1', 'localhost.example.com', '128.0.0.1']) {
          const flags = { [name]: `http://${host}` };
          expect(faults({ flags }), `${name} ${host}`).to.have.length(1);
          expect(faults({ flags: { ...flags, insecureHttp: 'true' } })).to.deep.equal([]);
        }
      }
    });
  });

  describe('the keys for states', () => {
    const key = 'k'.repeat(32);
    const keysIn = (text: string) => {
      const given = { files: { '/keys': { text } }, flags: { stateKeyFile: '/keys' } };
      return config(given).stateKeys?.map((secret) => secret.reveal());
    };

    it('are the current one and the previous one, a line each', () => {
      expect(keysIn(`${key}\n`)).to.deep.equal([key]);
      expect(keysIn(`${key}1\n${key}2\n`)).to.deep.equal([`${key}1`, `${key}2`]);
    });

    it('are refused where one is short, where there are too many, and where there is no file', () => {
      for (const text of ['', 'short', `${key}\nshort`, `${key}\n\n`, `${key}\n${key}\n${key}`]) {
        const given = { files: { '/keys': { text } }, flags: { stateKeyFile: '/keys' } };
        expect(faults(given), JSON.stringify(text)).to.have.length(1);
      }
      expect(faults({ flags: { stateKeyFile: '/missing' } })).to.have.length(1);
    });
  });

  describe('the client secret', () => {
    const bare = { FRONTEND_ORIGIN: minimal.FRONTEND_ORIGIN, PROVIDER_CLIENT_ID: 'client' };
    const files = {
      '/file': { text: 'from file\n' },
      '/cred/provider-client-secret': { text: 'from credential' },
    };
    const secretOf = (given: Given) => config({ files, ...given }).clientSecret.reveal();

    it('comes from the flags, else the variables, else the systemd credential', () => {
      const credential = { ...bare, CREDENTIALS_DIRECTORY: '/cred' };
      const variable = { ...credential, PROVIDER_CLIENT_SECRET: 'from variable' };
      const fileVariable = { ...credential, PROVIDER_CLIENT_SECRET_FILE: '/file' };
      expect(secretOf({ environment: credential })).to.equal('from credential');
      expect(secretOf({ environment: variable })).to.equal('from variable');
      expect(secretOf({ environment: fileVariable })).to.equal('from file');
      expect(secretOf({ environment: variable, flags: { clientSecretFile: '/file' } })).to.equal(
        'from file',
      );
      expect(
        secretOf({ environment: fileVariable, flags: { clientSecret: 'from flag' } }),
      ).to.equal('from flag');
    });

    it('loses the final newline of its file, and only that', () => {
      for (const text of ['a b', 'a b\n', 'a b\r\n']) {
        expect(
          secretOf({
            files: { '/f': { text } },
            flags: { clientSecretFile: '/f' },
            environment: bare,
          }),
        ).to.equal('a b');
      }
    });

    it('is refused when given twice at the same place, empty, not one line, or unreadable', () => {
      const bad: Given[] = [
        { flags: { clientSecret: 'a', clientSecretFile: '/file' }, environment: bare },
        { environment: { ...minimal, PROVIDER_CLIENT_SECRET_FILE: '/file' } },
        { flags: { clientSecretFile: '/empty' }, environment: bare },
        { flags: { clientSecretFile: '/newline' }, environment: bare },
        { flags: { clientSecretFile: '/lines' }, environment: bare },
        { flags: { clientSecretFile: '/missing' }, environment: bare },
        { environment: { ...bare, CREDENTIALS_DIRECTORY: '/missing' } },
        { environment: bare },
      ];
      for (const given of bad) {
        const lines = faults({
          files: { ...files, '/empty': {}, '/newline': { text: '\n' }, '/lines': { text: 'a\nb' } },
          ...given,
        });
        expect(lines, JSON.stringify(given)).to.have.length(1);
        expect(lines[0]).to.match(/^--client-secret/);
      }
    });

    it('brings a warning where its file is open to every user', () => {
      const { warnings } = read({
        files: { '/open': { text: 'a', readableByOthers: true } },
        flags: { clientSecretFile: '/open' },
        environment: bare,
      });
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.match(/^--client-secret-file .* every user can read/);
      expect(read({}).warnings).to.deep.equal([]);
    });
  });
});
