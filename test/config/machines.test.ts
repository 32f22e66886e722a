import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { formatConfigFile } from '../../src/config/shown/print.ts';
import { faultsOfFile, type Given, readFileConfig } from './support/read.ts';

const secret = 'a secret of thirty-two characters or more';
const files = { './ci': { text: `${secret}\n` } };
const file = (settings: string, resource = '', providers = '') => `base-url: https://login.example.com
key-file: ./key
trusted-proxies: 192.0.2.1
providers: { github: { client-id: one, client-secret: two }${providers} }
resources: { wiki: { url: https://wiki.example.com/${resource} } }
front-ends:
  ci: { kind: machine${settings} }
`;
const bySecret = ', secret-file: ./ci, resources: [wiki]';
const byKey = ', public-key-file: ./ci, resources: [wiki]';

describe('the configuration of a machine', () => {
  const faults = (settings: string, more: Given['files'] = files, resource = '') =>
    faultsOfFile(file(settings, resource), { files: more });

  it('is a secret, or a key, and its resources', () => {
    const { config, warnings, readings } = readFileConfig(file(bySecret), { files });
    const [machine] = config.frontEnds;
    expect(machine?.credentials?.secrets.map((one) => one.reveal())).to.deep.equal([secret]);
    expect(machine).to.deep.include({
      kind: 'machine',
      refreshTokens: 'off',
      redirectUris: [],
      registrations: ['github'],
    });
    expect(warnings).to.deep.equal([]);
    expect(formatConfigFile(readings)).to.contain('secret-file: ./ci').and.not.contain(secret);
    const printed = formatConfigFile(readings, config);
    expect(printed).not.to.match(/token-delivery|error-delivery/);
    const again = readFileConfig(printed, { files });
    expect(again.config).to.deep.equal(config);
  });

  it('may have two secrets, the present and the previous secret', () => {
    const two = { './ci': { text: `${secret}\n${secret} before\n` } };
    const { config } = readFileConfig(file(bySecret), { files: two });
    expect(config.frontEnds[0]?.credentials?.secrets).to.have.length(2);
    for (const text of ['short', `${secret}\nshort`, `${secret}\n${secret}\n${secret}`]) {
      expect(faults(bySecret, { './ci': { text } }).join()).to.match(/ci\.secret-file must name a file of one or two/);
    }
  });

  it('warns of a secret that others can read, and of no key', () => {
    const readableByOthers = true;
    const open = readFileConfig(file(bySecret), { files: { './ci': { text: secret, readableByOthers } } });
    expect(open.warnings.join()).to.contain('front-ends.ci.secret-file names a file that every user can read');
    const text = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }).toString();
    expect(readFileConfig(file(byKey), { files: { './ci': { text, readableByOthers } } }).warnings).to.deep.equal([]);
  });

  it('may have its secret as a systemd credential', () => {
    const text = file(', resources: [wiki]');
    const environment = { CREDENTIALS_DIRECTORY: '/run/credentials' };
    const given = { environment, files: { '/run/credentials/ci-machine-secret': { text: secret } } };
    expect(readFileConfig(text, given).config.frontEnds[0]?.credentials?.secrets).to.have.length(1);
    expect(faultsOfFile(text, { environment, files: {} })).to.deep.equal([
      'config.yaml:7:3 front-ends.ci.secret-file is required with kind machine, or public-key-file, or the systemd credential ci-machine-secret, which is missing or empty',
    ]);
    expect(faults(', resources: [wiki]')).to.deep.equal([
      'config.yaml:7:3 front-ends.ci.secret-file is required with kind machine, or public-key-file',
    ]);
  });

  const pem = (pair: ReturnType<typeof generateKeyPairSync>) =>
    `${(pair as unknown as { publicKey: { export(how: object): string } }).publicKey.export({ format: 'pem', type: 'spki' })}`;
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = ec.publicKey.export({ format: 'jwk' });
  const privateJwk = ec.privateKey.export({ format: 'jwk' });

  for (const [what, text, count] of [
    ['PEM', pem(ec as never), 1],
    [
      'PKCS #1',
      generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'pem', type: 'pkcs1' }),
      1,
    ],
    ['two keys', pem(ec as never) + pem(generateKeyPairSync('ed25519') as never), 2],
    ['a JWK', JSON.stringify(jwk), 1],
    ['a JWK Set', JSON.stringify({ keys: [jwk, { ...jwk, kid: 'two' }] }), 2],
  ] as const) {
    it(`takes a public key as ${what}`, () => {
      const { config } = readFileConfig(file(byKey), { files: { './ci': { text: `${text}` } } });
      expect(config.frontEnds[0]?.credentials?.keys).to.have.length(count);
    });
  }

  for (const [what, text, fault] of [
    ['a private key', `${ec.privateKey.export({ format: 'pem', type: 'pkcs8' })}`, /names a private key/],
    [
      'a private key beside it',
      pem(ec as never) + ec.privateKey.export({ format: 'pem', type: 'sec1' }),
      /names a private key/,
    ],
    ['a private JWK', JSON.stringify(privateJwk), /names a private key/],
    ['a private JWK in a set', JSON.stringify({ keys: [jwk, privateJwk] }), /names a private key/],
    ['a secret as a JWK', '{"kty":"oct","k":"AAAA"}', /names a private key/],
    [
      'a short RSA key',
      pem(generateKeyPairSync('rsa', { modulusLength: 1024 }) as never),
      /does not have 2048 to 8192 bits/,
    ],
    [
      'a key of RSA-PSS',
      pem(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }) as never),
      /neither P-256, Ed25519 nor RSA/,
    ],
    [
      'another curve',
      pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }) as never),
      /neither P-256, Ed25519 nor RSA/,
    ],
    ['a key to encrypt with', pem(generateKeyPairSync('x25519') as never), /neither P-256, Ed25519 nor RSA/],
    ['three keys', pem(ec as never).repeat(3), /more than 2 keys/],
    ['no keys', '{"keys":[]}', /without a public key/],
    ['a list', '{"keys":[7]}', /without a public key/],
    ['no key', 'ssh-ed25519 AAAA', /without a public key/],
    ['no JSON', '{', /without a public key/],
    ['a broken key', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', /without a public key/],
  ] as const) {
    it(`refuses ${what} as its key`, () => {
      const [found, ...others] = faults(byKey, { './ci': { text } });
      expect(found)
        .to.match(/^config\.yaml:7:\d+ front-ends\.ci\.public-key-file /)
        .and.match(fault);
      expect(others).to.deep.equal([]);
    });
  }

  for (const [setting, value] of Object.entries({
    origin: 'https://ci.example.com',
    'frontend-url': 'https://ci.example.com/',
    'redirect-uris': 'https://ci.example.com/',
    origins: 'capacitor://localhost',
    'token-delivery': 'code',
    'error-delivery': 'json',
    'refresh-tokens': 'bearer',
    'client-key-file': './ci',
    providers: '[github]',
    scope: 'openid',
    allow: '{ users: [ada] }',
    clients: '{ registration: true }',
    proxy: '[{ path: /api/x, url: https://api.example.com/ }]',
  })) {
    it(`has no ${setting}`, () => {
      expect(faults(`${bySecret}, ${setting}: ${value}`).join('\n')).to.match(
        new RegExp(
          `^config\\.yaml:7:\\d+ front-ends\\.ci\\.${setting} ("[^"]*" )?must not be set with \\S+ front-ends.ci.kind machine`,
          'm',
        ),
      );
    });
  }

  it('needs resources, and servers that act as themselves', () => {
    expect(faults(', secret-file: ./ci').join('\n')).to.contain('front-ends.ci.resources is required with');
    const giving = ', upstream: http://127.0.0.1:9000/, token: provider';
    expect(faults(bySecret, files, giving)).to.deep.equal([
      "config.yaml:7:43 front-ends.ci.resources has wiki, whose server gets the provider's token: a machine has none",
    ]);
    expect(faults(`${bySecret}, public-key-file: ./ci`).join()).to.contain('give only one');
  });

  it('has the credentials of no other front end', () => {
    const page = file(', secret-file: ./ci, public-key-file: ./ci, resources: [wiki]').replace(
      'kind: machine',
      'origin: https://a.example, token-delivery: code',
    );
    expect(faultsOfFile(page, { files }).join('\n'))
      .to.contain('front-ends.ci.secret-file needs kind: machine')
      .and.contain('front-ends.ci.public-key-file needs kind: machine');
  });

  it('reserves the name machine, which no provider may have if there are resources', () => {
    const text = file(bySecret).replace('github:', 'Machine: { client-id: a, client-secret: b }, github:');
    expect(faultsOfFile(text, { files }).join('\n')).to.contain('providers.Machine must not be called machine');
  });
});
