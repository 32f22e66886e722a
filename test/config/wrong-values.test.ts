import { expect } from 'chai';
import { canary } from '../harness/expect/canaries.ts';
import { faults } from './support/read.ts';

/** Every flag of the contract with its environment variable, written down independently. */
const variables = {
  port: 'PORT',
  host: 'HOST',
  origin: 'FRONTEND_ORIGIN',
  'frontend-url': 'FRONTEND_URL',
  'base-url': 'BASE_URL',
  'client-id': 'PROVIDER_CLIENT_ID',
  'client-secret': 'PROVIDER_CLIENT_SECRET',
  'client-secret-file': 'PROVIDER_CLIENT_SECRET_FILE',
  provider: 'PROVIDER',
  'authorize-url': 'PROVIDER_AUTHORIZE_URL',
  'token-url': 'PROVIDER_TOKEN_URL',
  'user-url': 'PROVIDER_USER_URL',
  scope: 'PROVIDER_SCOPE',
  'token-request': 'PROVIDER_TOKEN_REQUEST',
  pkce: 'PROVIDER_PKCE',
  'authorize-params': 'PROVIDER_AUTHORIZE_PARAMS',
  'token-params': 'PROVIDER_TOKEN_PARAMS',
  'path-name': 'PROVIDER_PATH_NAME',
  'token-delivery': 'TOKEN_DELIVERY',
  'redirect-uri': 'FRONTEND_REDIRECT_URI',
  'refresh-tokens': 'REFRESH_TOKENS',
  'refresh-lifetime': 'REFRESH_LIFETIME',
  'revocation-url': 'PROVIDER_REVOCATION_URL',
  'provider-timeout': 'PROVIDER_TIMEOUT',
  'log-level': 'LOG_LEVEL',
  'log-format': 'LOG_FORMAT',
  'insecure-http': 'INSECURE_HTTP',
  issuer: 'PROVIDER_ISSUER',
  'key-file': 'KEY_FILE',
  'metrics-port': 'METRICS_PORT',
} as const;

/** A flag of the contract, without its dashes. */
type FlagName = keyof typeof variables;

/** The flag names, in the order of the contract. */
const flagNames = Object.keys(variables) as FlagName[];

const malformedParameters = ['prompt', 'a=b&', '=b', 'a=%', 'a=%ff', 'a=b c', 'a=ü'];

const malformedEndpoint = [
  'provider.example',
  'ftp://provider.example/',
  'file:///etc/passwd',
  '//provider.example',
  'https:provider.example',
  'https://',
  'https:///path',
  'https://provider.example:99999/',
  ' https://provider.example',
  'https://provider.example ',
  'https://provi der.example',
  'https://provider.example\n',
  'https://provider.example\0',
  'https://[::1',
  'https://a<b>.c',
  'https://provïder.example/',
  'https://provider。example/',
  'https://provider%00.example/',
  'https://provider.example\\@evil.example',
  'https://provider.example/#fragment',
  'https://someone@provider.example/',
  'https://someone:hunter2@provider.example/',
  // Plain http to another machine.
  'http://provider.example/',
  'http://10.0.0.1/',
  'http://localhost.evil.example/',
  'http://127.0.0.1.evil.example/',
  // Link-local and metadata addresses, in every spelling that URL parsers and resolvers accept.
  'https://169.254.169.254/',
  'https://169.254.0.1/',
  'https://169.254.169.254./',
  'https://0251.0376.0251.0376/',
  'https://0xa9.0xfe.0xa9.0xfe/',
  'https://0xa9fea9fe/',
  'https://2852039166/',
  'https://169.254.43518/',
  'https://[fe80::1]/',
  'https://[febf::1]/',
  'https://[::ffff:169.254.169.254]/',
  'https://[::ffff:a9fe:a9fe]/',
  'https://[64:ff9b::a9fe:a9fe]/',
  'https://[::169.254.169.254]/',
  'https://[fd00:ec2::254]/',
  'https://[0:0:0:0:0:ffff:a9fe:a9fe]/',
  'https://[fd20:ce::254]/',
  'https://100.100.100.200/',
  'https://metadata.google.internal/',
  'https://metadata.google.internal./',
];

/** No pages of the front end, though some look like it. */
const pagesElsewhere = [
  'page',
  '/page',
  'blob:https://app.example/1',
  'https://app.example/\tpage',
  'https://other.example/',
  'https://app.example.evil/',
  'https://sub.app.example/',
  'https://app.example:8443/',
  'http://app.example/',
  'https://app%2eexample/',
  'https://someone:hunter2@app.example/',
  'https://@app.example/',
  'https://app.example@other.example/',
  'https://app.example\\@other.example/',
  'https://app.example/#fragment',
  'https://app.example/#',
];

/** A page of the front end with a parameter that the relay adds. */
const withAdded = (...names: string[]) => names.map((name) => `https://app.example/?theme=dark&${name}=x`);

/** Wrong values for each option. */
const malformed: Partial<Record<FlagName, string[]>> = {
  port: ['eighty', '-1', '65536', '80.5', '1e3', ' 1', '1 ', '1.0', '0x1f90', 'Infinity', '８０００', '99999999999'],
  host: ['not a host', 'http://127.0.0.1'],
  origin: [
    'app.example',
    '//app.example',
    'https:///',
    'https://app.example:99999',
    'null',
    'https://app.example/path',
    'https://app.example/?query',
    'https://app.example/#fragment',
    'https://someone:hunter2@app.example',
    'https://@app.example',
    'http://app.example',
    'ftp://app.example',
    'javascript:alert(1)',
    'https://app.example https://other.example',
    'https://äpp.example',
    'https://app。example',
    '*',
    'https://*.example',
  ],
  'frontend-url': [
    ...pagesElsewhere,
    ...withAdded('access_token', 'state', 'error', 'error_description', 'request_id'),
  ],
  'redirect-uri': [...pagesElsewhere, ...withAdded('code', 'state', 'iss', 'error', 'error_description', 'request_id')],
  'base-url': [
    'relay.example',
    'ftp://relay.example',
    'http://relay.example',
    'http://192.168.0.1',
    'https://relay.example/?query',
    'https://relay.example/?',
    'https://relay.example:port',
    'https://relay.example/#fragment',
    'https://someone:hunter2@relay.example',
    'https://rélay.example',
    'https://relay%2Eexample',
    'https://0x7f.1',
  ],
  provider: ['gitlub', '__proto__', 'GitHub'],
  'token-request': ['header', 'Query', 'basic raw'],
  pkce: ['plain', 'true'],
  'authorize-params': [...malformedParameters, 'a=b&redirect_uri=https://evil.example/', 'nonce=x', 'state=x'],
  'token-params': [...malformedParameters, 'client_assertion=x', '%63ode=x'],
  'path-name': ['a/b', '..', '.', 'two words', '%2e%2e', 'näme', ':name', '(.*)', '*'],
  'token-delivery': ['cookie', 'hash'],
  'refresh-tokens': ['on', 'dpop'],
  'refresh-lifetime': ['0', '3651', '1.5', '30d', '-1'],
  'provider-timeout': ['-1', '0', '0.05', '0.09', '300.1', '301', '10s', 'NaN', 'Infinity', '1e1'],
  'log-level': ['loud', 'INFO'],
  'log-format': ['xml'],
  scope: ['say "hello"', 'back\\slash', 'tab\there', ' read', 'read  write'],
  'client-id': ['line\nbreak', 'clïent'],
  'authorize-url': malformedEndpoint,
  'token-url': malformedEndpoint,
  'user-url': malformedEndpoint,
  'revocation-url': malformedEndpoint,
};

/** Parameters that the relay adds to the query of these URLs. */
const added: Partial<Record<FlagName, string[]>> = {
  'authorize-url': ['client_id', 'state', 'code_challenge', 'scope'],
  'token-url': ['client_id', 'client_secret', 'code', 'grant_type'],
  'user-url': ['access_token'],
  'revocation-url': ['token', 'token_type_hint', 'client_id', 'client_secret'],
};

/** Options whose values may be secret. */
const unquoted: ReadonlySet<FlagName> = new Set(['token-params']);

const secretFile = '/secret';
const files = { [secretFile]: { text: canary('secret') } };
/** Variables without a fault. */
const sound = {
  FRONTEND_ORIGIN: 'https://app.example',
  BASE_URL: 'https://relay.example',
  PROVIDER_CLIENT_ID: 'client-1',
  PROVIDER_CLIENT_SECRET_FILE: secretFile,
};

const optionName = (flag: FlagName) => flag.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** The only fault of a configuration that has this value as a flag, and as a variable. It must name both. */
function onlyFault(name: FlagName, value: string): string {
  const flags = { [optionName(name)]: value };
  const asFlag = faults({ flags, environment: sound, files });
  const asVariable = faults({ environment: { ...sound, [variables[name]]: value }, files });
  expect(asVariable).to.deep.equal(asFlag);
  expect(asFlag).to.have.lengthOf(1);
  const [fault = ''] = asFlag;
  expect(fault).to.match(new RegExp(`^--${name} .*\\b${variables[name]}\\b`));
  expect(fault).not.to.contain('hunter2');
  return fault;
}

describe('the configuration refuses', () => {
  it('nothing of the settings that the values below are added to', () => {
    expect(faults({ environment: sound, files })).to.deep.equal([]);
  });

  for (const name of flagNames) {
    for (const value of malformed[name] ?? []) {
      it(`--${name} ${JSON.stringify(value)}`, () => {
        const fault = onlyFault(name, value);
        // A fault quotes the value up to a query or fragment, unless it may be a secret.
        if (unquoted.has(name) || value.includes('@')) expect(fault).not.to.contain(value);
        else expect(fault).to.contain(JSON.stringify(value.replace(/[?#].*/, '…')));
      });
    }

    for (const parameter of added[name] ?? []) {
      it(`${parameter} in the query of --${name}, because the relay adds it`, () => {
        onlyFault(name, `https://provider.example/?tenant=a&${parameter}=own`);
      });
    }
  }

  for (const [issuer, words] of [
    ['https://169.254.169.254/', 'metadata address'],
    ['https://someone:hunter2@provider.example/', 'user name'],
    ['https://provider.example/#fragment', 'fragment'],
    ['provider.example', 'https://'],
  ] as const) {
    it(`the issuer ${issuer}, because of its ${words}`, () => {
      expect(onlyFault('issuer', issuer)).to.contain(words);
    });
  }
});
