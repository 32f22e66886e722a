import { readFileSync } from 'node:fs';
import fc, { type Arbitrary } from 'fast-check';
import { checkAuthorization } from '../../fuzz/parsers/authorization.ts';
import { checkProviderAnswer } from '../../fuzz/parsers/provider-answer.ts';
import { checkQuery } from '../../fuzz/parsers/query.ts';

// scripts/long fuzz sets more.
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 1000);

const latin1 = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const text = fc.string({ unit: 'binary', maxLength: 40 });
const joined = (parts: Arbitrary<string>, separators: Arbitrary<string>) =>
  fc.array(fc.tuple(parts, separators), { maxLength: 8 }).map((pairs) => pairs.flat().join(''));

const name = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('code', 'state', 'error', 'iss') },
  fc.constantFrom('__proto__', 'constructor', 'c%6fde', 'code%00', ''),
  latin1,
);
const parameterValue = fc.oneof(
  text.map((value) => encodeURIComponent(value.toWellFormed())),
  text.map((value) => new URLSearchParams([['', value]]).toString().slice(1)),
  latin1.map((value) => [...value].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')),
  latin1,
  fc.constantFrom('%', '%e', '%ff', '%ed%a0%80', '%c0%af', 'https://id.example', 'access_denied'),
  fc.integer({ min: 4090, max: 4100 }).map((length) => 'x'.repeat(length)),
);
const queries = joined(
  fc.tuple(name, fc.constantFrom('=', '', '=='), parameterValue).map((parts) => parts.join('')),
  fc.constantFrom('&', '&', '&', '&&', ';', ''),
);

const authorizations = fc.array(
  joined(fc.oneof(fc.constantFrom('Bearer', 'token', 'Basic', ''), latin1), fc.constantFrom(' ', '  ', '\t', '')),
  { maxLength: 3 },
);

const metadata = {
  issuer: 'https://id.example',
  authorization_endpoint: 'https://id.example/a',
  token_endpoint: 'https://id.example/t',
  userinfo_endpoint: 'https://id.example/u',
};
const fieldValue = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(...Object.values(metadata), 'http://id.example/', 'https://169.254.169.254/'),
  fc.webUrl(),
  fc.constantFrom(['S256'], ['client_secret_post'], ['none'], true, false, 'x'.repeat(20_000)),
);
const fields = fc.dictionary(
  fc.constantFrom(
    'access_token',
    'error',
    'login',
    'ok',
    '__proto__',
    'code_challenge_methods_supported',
    'refresh_token',
    'refresh_token_expires_in',
    'expires_in',
    'scope',
    'revocation_endpoint',
    'token_endpoint_auth_methods_supported',
    'authorization_response_iss_parameter_supported',
    ...Object.keys(metadata),
  ),
  fieldValue,
  { maxKeys: 6 },
);
const json = fc.oneof(
  fields.map((record) => JSON.stringify(record)),
  fields.map((record) => JSON.stringify({ ...metadata, ...record })),
  fc.json(),
);
const formText = fc.string({
  unit: fc.constantFrom(...'aZ0.-_~%&=+ <"{\r\né', '%61', '%ff', 'access_token', 'error', 'scope'),
});
const forms = fc.tuple(formText, formText).map(([before, value]) => `${before}access_token=${value}`);
const answers = fc.oneof(
  forms.map((body) => Buffer.from(body)),
  json.map((body) => Buffer.from(body)),
  fc.tuple(json, fc.nat(), latin1).map(([body, position, other]) => {
    const at = position % (body.length + 1);
    return Buffer.from(body.slice(0, at) + other + body.slice(at + other.length), 'latin1');
  }),
  json.map((body) => Buffer.from(`\ufeff${body}`)),
  json.map((body) => Buffer.from(body, 'utf16le')),
  fc.uint8Array({ maxLength: 100 }),
);

describe('with any input,', () => {
  it('a query is read exactly, or refused', () => {
    fc.assert(fc.property(queries, checkQuery), { numRuns });
  });

  it('an Authorization header yields its second part, or is refused', () => {
    fc.assert(fc.property(authorizations, checkAuthorization), { numRuns });
  });

  it("a provider's answer yields a usable result, or a defined failure", async () => {
    await fc.assert(fc.asyncProperty(answers, checkProviderAnswer), { numRuns });
  });
});

describe('inputs that fuzzing has found', () => {
  const checks = {
    query: (input: Buffer) => checkQuery(input.toString('latin1')),
    authorization(input: Buffer) {
      const text = input.toString('latin1');
      for (const values of [[text], text.split('\n')]) checkAuthorization(values);
    },
    'provider-answer': checkProviderAnswer,
  };
  for (const [parser, check] of Object.entries(checks)) {
    it(`are handled by the ${parser}`, async () => {
      const corpus = new URL(`../../fuzz/corpus/${parser}.txt`, import.meta.url);
      for (const line of readFileSync(corpus, 'utf8').trimEnd().split('\n')) {
        await check(Buffer.from(line, 'base64'));
      }
    });
  }
});
