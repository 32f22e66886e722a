import { expect } from 'chai';
import type { OptionName } from '../../src/config/settings/settings.ts';
import { faults, type Given, onlyFault, read, readFileConfig } from './support/read.ts';

const key = { '/key': { text: 'k'.repeat(40) } };
const tokenDelivery = 'session';
const places = { origin: 'https://app.example.com', baseUrl: 'https://login.example.com' };
const onHttps = { tokenDelivery, ...places, keyFile: '/key' };

const given = (flags: Partial<Record<OptionName, string>>): Given => ({ flags, files: key });

describe('--token-delivery session', () => {
  it('needs no other option on this machine', () => {
    const { config, warnings } = read(given({ tokenDelivery, origin: 'http://localhost:5173' }));
    expect(config).to.deep.include({ tokenDelivery, stateCheck: 'always', redirectUris: [] });
    expect(warnings).to.deep.equal([]);
  });

  it('needs a key file beyond this machine', () => {
    const { keyFile: _, ...flags } = onHttps;
    expect(faults(given(flags))).to.deep.equal([
      '--key-file (KEY_FILE) is required with --token-delivery (TOKEN_DELIVERY) session: otherwise anyone who knows the client secret could decrypt sessions',
    ]);
  });

  it('takes a key file that is created at the start', () => {
    const files: NonNullable<Given['files']> = {};
    const create = (path: string, text: string) => {
      files[path] = { text };
      return true;
    };
    const newFiles = { expectCreatable: () => {}, create };
    const { config } = read({ flags: { ...onHttps, keyFile: '/new/key' }, newFiles, files });
    expect(config.keySecrets).to.have.lengthOf(1);
  });

  for (const [origin, baseUrl] of [
    ['https://app.example.com', 'https://login.example.org'],
    ['https://me.github.io', 'https://you.github.io'],
    ['https://app.co.uk', 'https://login.co.uk'],
    ['https://a.vercel.app', 'https://b.vercel.app'],
    ['https://192.0.2.1', 'https://192.0.2.2'],
    ['https://evil-example.com', 'https://example.com'],
    ['http://localhost:5173', 'https://localhost:8443'],
    ['http://127.0.0.1:5173', 'http://localhost:8000'],
  ] as const) {
    it(`does not take ${origin} at ${baseUrl}, which is another site`, () => {
      const fault = onlyFault(given({ ...onHttps, origin, baseUrl }));
      expect(fault).to.match(/^--origin .* must be on the same site as --base-url /);
    });
  }

  for (const [origin, baseUrl] of [
    ['https://app.example.com', 'https://login.example.com'],
    ['https://example.com', 'https://login.example.com'],
    ['https://example.com', 'https://example.com/login'],
    ['https://a.b.example.co.uk', 'https://example.co.uk:8443'],
    ['https://me.github.io', 'https://me.github.io'],
    ['https://192.0.2.1:8443', 'https://192.0.2.1'],
    ['http://127.0.0.1:5173', 'http://127.0.0.1:8000'],
    ['http://[::1]:1', 'http://[::1]:2'],
    ['https://a.example.com', 'https://b.c.example.com'],
  ] as const) {
    it(`takes ${origin} at ${baseUrl}`, () => {
      expect(faults(given({ ...onHttps, origin, baseUrl }))).to.deep.equal([]);
    });
  }

  it('needs https beyond this machine, even if plain http is allowed', () => {
    const plain = { origin: 'http://app.example.com', baseUrl: 'http://login.example.com' };
    expect(faults(given({ ...onHttps, ...plain, insecureHttp: 'true' }))).to.deep.equal([
      '--base-url (BASE_URL) "http://login.example.com" must start with https:// with --token-delivery (TOKEN_DELIVERY) session',
    ]);
  });

  it('does not take an endpoint of sessions as the name of a registration', () => {
    for (const pathName of ['session', 'logout']) {
      expect(faults(given({ ...onHttps, pathName }))).to.deep.equal([
        `--path-name (PROVIDER_PATH_NAME) "${pathName}" has the name of an endpoint of --token-delivery (TOKEN_DELIVERY) session: choose another name`,
      ]);
      expect(faults(given({ pathName }))).to.deep.equal([]);
    }
  });
});

describe('--session-lifetime and --session-idle', () => {
  it('are days and hours', () => {
    const { config } = read(given({ ...onHttps, sessionLifetime: '30', sessionIdle: '2' }));
    expect(config).to.include({ sessionLifetime: 30 * 86_400, sessionIdle: 7200 });
  });

  it('take whole numbers within limits', () => {
    for (const value of ['0', '1.5', '-1', '9601', '1d']) {
      expect(faults(given({ ...onHttps, sessionIdle: value })), value).to.have.length(1);
      expect(faults(given({ ...onHttps, sessionLifetime: value })), value).to.have.length(1);
    }
  });

  it('warn if no front end has sessions', () => {
    expect(read({ flags: { sessionIdle: '2' } }).warnings).to.deep.equal([
      '--session-idle (SESSION_IDLE) has no effect: no front end has sessions',
    ]);
  });
});

describe('sessions in a configuration file', () => {
  const text = `base-url: https://login.example.com
key-file: ./key
session-idle: 12
providers:
  github: { client-id: client, client-secret: secret }
front-ends:
  app: { origin: https://app.example.com, token-delivery: session }
  blog: { origin: https://blog.example.com }
`;
  it('belong to front ends, and their times to the relay', () => {
    const { config } = readFileConfig(text);
    expect(config.sessionIdle).to.equal(43_200);
    expect(config.frontEnds[0]?.tokenDelivery).to.equal('session');
    expect(config.registrations[0].stateCheck).to.equal('always');
  });

  it('warn of another front end that gives tokens to the same page', () => {
    const place = 'config.yaml:7:10 front-ends.app.origin is also in config.yaml:8:11 front-ends.blog.origin: ';
    for (const [blog, places] of [
      ['https://app.example.com', [place]],
      ['https://app.example.com, token-delivery: cms', [place]],
      ['"https://*.example.com", token-delivery: code', [place]],
      ['https://blog.example.com', []],
      ['https://app.example.com, token-delivery: session', []],
      ['"https://*.preview.example.com", token-delivery: code', []],
    ] as const) {
      const { warnings } = readFileConfig(text.replace('https://blog.example.com', blog));
      const found = warnings.filter((one) => one.includes('a script in the page can log in there'));
      expect(
        found.map((one) => one.slice(0, place.length)),
        blog,
      ).to.deep.equal(places);
    }
  });

  it('warn of a program that asks for its tokens from the same page, or whose logins end there', () => {
    for (const [program, setting] of [
      ['redirect-uris: com.example.app:/cb, origins: [capacitor://localhost, https://app.example.com]', 'origins'],
      ['redirect-uris: https://app.example.com/cb', 'redirect-uris'],
      ['redirect-uris: com.example.app:/cb, origins: capacitor://localhost', undefined],
    ] as const) {
      const native = text.replace('origin: https://blog.example.com', `kind: native, ${program}`);
      const found = readFileConfig(native).warnings.find((one) =>
        one.includes('a script in the page can log in there'),
      );
      const [, named] = /is also in \S+ front-ends\.blog\.([a-z-]+):/.exec(found ?? '') ?? [];
      expect(named, program).to.equal(setting);
    }
  });

  it('do not warn of a front end with other providers', () => {
    const apart = text
      .replace('secret: secret }', 'secret: b }\n  gitlab: { client-id: c, client-secret: d }')
      .replace('token-delivery: session', 'token-delivery: session, providers: [github]')
      .replace('https://blog.example.com', 'https://app.example.com, providers: [gitlab]');
    expect(readFileConfig(apart).warnings.join()).not.to.contain('a script in the page');
  });
});
