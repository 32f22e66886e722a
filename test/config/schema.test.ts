import { Ajv } from 'ajv';
import { expect } from 'chai';
import { parse } from 'yaml';
import { configFileSchema } from '../../src/config/shown/schema.ts';
import { limits } from '../../src/limits.ts';
import { documentedFiles, faultsOfFile, secretFilesOf } from './support/read.ts';

const ajv = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true });
const validate = ajv.compile(configFileSchema());

/** The faults of a file by the JSON Schema. */
function violations(text: string): readonly string[] {
  validate(parse(text));
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** The faults of the file by the relay. */
function faults(text: string): readonly string[] {
  const secrets = secretFilesOf(text).map((path) => [path, { text: 'a secret' }]);
  return faultsOfFile(text, { files: Object.fromEntries(secrets) });
}

const github = 'github: { client-id: a, client-secret: b }';
const app = 'app: { origin: https://app.example.com }';
const api = 'path: /api/github/, url: https://api.example.com/';

/** A file with a provider and a front end, and something else. */
function fileWith({ relay = '', provider = '', frontEnd = '' }): string {
  const providers = `providers:\n  ${github.replace(' }', `${provider && `, ${provider}`} }`)}\n`;
  return `${relay}\n${providers}front-ends:\n  ${app.replace(' }', `${frontEnd && `, ${frontEnd}`} }`)}\n`;
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `name-${index}`);
const providers = (count: number) =>
  names(count).map((name) => `  ${name}: { client-id: a, client-secret: b, provider: github }\n`);
const frontEnds = (count: number) => names(count).map((name) => `  ${name}: { origin: https://${name}.example.com }\n`);

const right: Readonly<Record<string, string>> = {
  ...Object.fromEntries(documentedFiles),
  'as many providers and front ends as there may be': `providers:\n${providers(limits.registrations).join('')}front-ends:\n${frontEnds(limits.frontEnds).join('')}`,
  'one redirect URI': fileWith({ frontEnd: 'redirect-uris: https://app.example.com/in' }),
  'a list of redirect URIs': fileWith({ frontEnd: 'redirect-uris: [https://app.example.com/in]' }),
  'a scope as a text': fileWith({ provider: 'scope: repo user' }),
  'a scope as a list': fileWith({ provider: 'scope: [repo, user]' }),
  'a client ID that looks like a number': `providers: { github: { client-id: 1234.5678, client-secret: b } }\nfront-ends: { ${app} }`,
  'every type of value': `port: 8080\nprovider-timeout: 2.5\ninsecure-http: true\nlog-level: debug\ntrusted-proxies: [10.0.0.0/8, unix]${fileWith({})}`,
  'headers of a provider': fileWith({ provider: "request-headers: { Notion-Version: '2022-06-28', X-Number: 7 }" }),
  'a provider by hand': fileWith({
    provider:
      "user-request: post, user-body: 'null', scope-separator: ',', logout-url: off, token-request: json, token-answer: body",
  }),
  'a proxy': `base-url: https://login.example.com\nkey-file: ./key\nproviders: { ${github} }\nfront-ends: { ${app.replace(' }', ', token-delivery: session, proxy: [{ path: /api/github/, url: https://api.example.com/ }] }')} }`,
};

const wrong: Readonly<Record<string, string>> = {
  'a list': '- port: 1',
  'a text': 'port',
  'headers as a list': fileWith({ provider: 'request-headers: [Notion-Version]' }),
  'headers as a text': fileWith({ provider: 'request-headers: "Notion-Version: 1"' }),
  'headers with a map': fileWith({ provider: 'request-headers: { a: { b: c } }' }),
  'no headers': fileWith({ provider: 'request-headers: {}' }),
  'an unknown key': fileWith({ relay: 'prot: 1' }),
  'an unknown key of a provider': fileWith({ provider: 'client: a' }),
  'an unknown key of a front end': fileWith({ frontEnd: 'redirect-uri: https://a.example' }),
  "a provider's key at the top": fileWith({ relay: 'client-id: a' }),
  'a key of the relay in a front end': fileWith({ frontEnd: 'port: 1' }),
  'a number below the least': fileWith({ relay: 'max-connections: 0' }),
  'a number above the most': fileWith({ relay: 'port: 65536' }),
  'a fraction in place of a whole number': fileWith({ relay: 'port: 80.5' }),
  'a text in place of a number': fileWith({ relay: 'port: lots' }),
  'a text in place of a boolean': fileWith({ relay: 'insecure-http: perhaps' }),
  'a boolean in place of a text': fileWith({ relay: 'base-url: true' }),
  'a word that is not in the list': fileWith({ relay: 'log-level: loud' }),
  'an unknown delivery': fileWith({ frontEnd: 'token-delivery: pigeon' }),
  'an unknown preset': fileWith({ provider: 'provider: gitbub' }),
  'a character that a host cannot have': fileWith({ relay: 'host: a b' }),
  'two spaces in a scope': fileWith({ provider: "scope: 'repo  user'" }),
  'nothing in place of a value': fileWith({ relay: 'host:' }),
  'an empty list': fileWith({ relay: 'trusted-proxies: []' }),
  'a list in place of one value': fileWith({ relay: 'port: [1]' }),
  'a list in a list': fileWith({ frontEnd: 'redirect-uris: [[https://app.example.com/in]]' }),
  'a map in place of a value': fileWith({ relay: 'host: { a: b }' }),
  'no providers': `providers: {}\nfront-ends: { ${app} }`,
  'no front ends': `providers: { ${github} }\nfront-ends: {}`,
  'a list of providers': `providers: [github]\nfront-ends: { ${app} }`,
  'a provider without settings': `providers: { github: }\nfront-ends: { ${app} }`,
  'a provider without a client ID': `providers: { github: { client-secret: a } }\nfront-ends: { ${app} }`,
  'a name with a slash': `providers: { ${github} }\nfront-ends: { a/b: { origin: https://a.example } }`,
  'a name of 65 letters': `providers: { ${github} }\nfront-ends: { ${'a'.repeat(65)}: { origin: https://a.example } }`,
  'a front end with the name of an endpoint': `providers: { ${github} }\nfront-ends: { callback: { origin: https://a.example } }`,
  'an allow without a rule': fileWith({ frontEnd: 'allow: {}' }),
  'a path that is no proxy': fileWith({ frontEnd: 'proxy: /api/github/' }),
  'no proxy': fileWith({ frontEnd: 'proxy: []' }),
  'a proxy without a URL': fileWith({ frontEnd: 'proxy: [{ path: /api/github/ }]' }),
  'a proxy with an unknown key': fileWith({ frontEnd: `proxy: [{ ${api}, method: GET }]` }),
  'a proxy with an unknown method': fileWith({ frontEnd: `proxy: [{ ${api}, methods: [TRACE] }]` }),
  'a proxy with a relative path': fileWith({ frontEnd: `proxy: [{ ${api.replace('/', '')} }]` }),
  'one provider too many': `providers:\n${providers(limits.registrations + 1).join('')}front-ends:\n  ${app}`,
  'one front end too many': `providers: { ${github} }\nfront-ends:\n${frontEnds(limits.frontEnds + 1).join('')}`,
};

describe('the JSON Schema of the configuration file', () => {
  it('is named for editors by every file of the documentation', () => {
    const titles = ['One page', 'A team with previews', "A page that uses the provider's API"];
    expect([...documentedFiles.keys()]).to.deep.equal(titles);
    for (const file of documentedFiles.values()) {
      expect(file).to.match(/^# yaml-language-server: \$schema=\.\/config\.schema\.json\n/);
    }
  });

  it('is a valid draft-07 schema', () => {
    expect(ajv.validateSchema(configFileSchema()), ajv.errorsText()).to.equal(true);
  });

  for (const [what, text] of Object.entries(right)) {
    it(`accepts what the relay accepts: ${what}`, () => {
      expect(faults(text)).to.deep.equal([]);
      expect(violations(text)).to.deep.equal([]);
    });
  }

  for (const [what, text] of Object.entries(wrong)) {
    it(`refuses what the relay refuses: ${what}`, () => {
      expect(faults(text)).to.not.deep.equal([]);
      expect(violations(text)).to.not.deep.equal([]);
    });
  }
});
