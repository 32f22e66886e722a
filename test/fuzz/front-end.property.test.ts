import fc, { type Arbitrary } from 'fast-check';
import { checkEndpointParameters } from '../../fuzz/parsers/endpoint-parameters.ts';
import { checkFrontEndRequest } from '../../fuzz/parsers/front-end-request.ts';
import { plainPayloads } from '../harness/client/redirect-payloads.ts';

// make fuzz sets more.
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 1000);

const latin1 = fc
  .uint8Array({ maxLength: 40 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'));
const text = fc.string({ unit: 'binary', maxLength: 40 });
const payload = fc.constantFrom(...plainPayloads).map((one) => one.toWellFormed());
const challenge = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('base64url'));

/** A text with another one at any place in it. */
const interrupted = (whole: Arbitrary<string>, other: Arbitrary<string>) =>
  fc.tuple(whole, fc.nat(), fc.nat(3), other).map(([one, position, length, inserted]) => {
    const at = position % (one.length + 1);
    return one.slice(0, at) + inserted + one.slice(at + length);
  });

/** How a form writes names and values, and how it must not. */
const written = (value: Arbitrary<string>) =>
  fc.oneof(
    { weight: 6, arbitrary: value.map((one) => encodeURIComponent(one.toWellFormed())) },
    value.map((one) => new URLSearchParams([['', one]]).toString().slice(1)),
    value,
    latin1,
    fc.constantFrom('%', '%ff', '%ed%a0%80', '%c0%af', ''),
  );
const form = (parameters: Readonly<Record<string, Arbitrary<string>>>) => {
  const pairs = Object.entries(parameters).map(([name, value]) =>
    written(value).map((one) => `${name}=${one}`),
  );
  return fc
    .tuple(
      fc.oneof(fc.constant(pairs), fc.shuffledSubarray(pairs)),
      fc.array(fc.oneof(...pairs, latin1), { maxLength: 2 }),
    )
    .chain(([some, [...more]]) => fc.tuple(...some).map((all) => [...all, ...more].join('&')));
};

const pages = [
  'https://app.example/',
  'https://app.example/signed-in?theme=dark',
  'https://*.preview.app.example/signed-in',
];
const preview = 'https://pull-7.preview.app.example/signed-in';
const redirectUri = fc.oneof(
  fc.constantFrom(...pages, preview, 'HTTPS://APP.example:443', 'https:\\\\app.example\\'),
  interrupted(fc.constantFrom(...pages, preview), fc.oneof(payload, text, latin1)),
  payload,
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
);
const requests = form({
  response_type: fc.oneof({ weight: 5, arbitrary: fc.constant('code') }, text),
  client_id: fc.constant('app'),
  redirect_uri: redirectUri,
  return_to: fc.oneof(
    redirectUri,
    payload.map((one) => `/${one}`),
    fc.webPath(),
  ),
  code_challenge: fc.oneof(
    challenge,
    interrupted(challenge, fc.oneof(challenge, fc.constantFrom('', 'A'), text)),
  ),
  code_challenge_method: fc.oneof(
    { weight: 5, arbitrary: fc.constant('S256') },
    fc.constantFrom('plain', 's256', ''),
  ),
  response_mode: fc.constantFrom('query', 'fragment', ''),
  scope: fc.oneof(
    fc.constantFrom('read', 'write read', 'read read', 'write  read', 'admin', ' '),
    text,
  ),
  state: fc.oneof(
    text,
    payload,
    fc.nat(600).map((length) => '\u{1f511}'.repeat(length)),
  ),
});
const configured = fc.record({
  redirectUris: fc.subarray(pages, { minLength: 1 }),
  scope: fc.constantFrom(undefined, 'read', 'read write', 'openid read'),
});

const value = fc.oneof(
  text,
  fc.constantFrom('authorization_code', 'refresh_token', 'app', 'null', '__proto__'),
  fc.nat(5000).map((length) => 'x'.repeat(length)),
);
const names = ['client_id', 'code', 'code_verifier', 'grant_type', 'redirect_uri', 'refresh_token'];
const forms = form(
  Object.fromEntries(
    [...names, 'scope', 'token', '__proto__', 'other'].map((name) => [name, value]),
  ),
);
const json = fc.oneof(
  fc.dictionary(
    fc.constantFrom(...names, '__proto__', 'constructor'),
    fc.oneof({ weight: 4, arbitrary: value }, fc.jsonValue()),
  ),
  fc.jsonValue(),
);
const bodies = fc.oneof(
  forms.map((one) => Buffer.from(one, 'latin1')),
  json.map((one) => Buffer.from(JSON.stringify(one))),
  json.map((one) => Buffer.from(`\ufeff${JSON.stringify(one)}`)),
  json.map((one) => Buffer.from(JSON.stringify(one), 'utf16le')),
  interrupted(
    json.map((one) => JSON.stringify(one)),
    latin1,
  ).map((one) => Buffer.from(one, 'latin1')),
  fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
);
const formType = 'application/x-www-form-urlencoded';
const contentType = fc.oneof(
  fc.constantFrom(formType, 'application/json', `${formType}; charset=utf-8`, 'Application/JSON;x'),
  fc.constantFrom('text/plain', 'multipart/form-data; boundary=a', 'application/jsonx', undefined),
  interrupted(fc.constantFrom(formType, 'application/json'), latin1),
);
const headers = fc.record({
  'content-type': contentType,
  'content-encoding': fc.oneof(
    { weight: 9, arbitrary: fc.constant(undefined) },
    fc.constantFrom('gzip', 'identity', ''),
  ),
});

describe('whatever a front end sends,', () => {
  it('an OAuth request names a registered redirect URI, a challenge and a scope, or is refused', () => {
    fc.assert(fc.property(requests, configured, checkFrontEndRequest), { numRuns });
  });

  it('the body of a token request is read exactly, or refused', () => {
    fc.assert(fc.property(headers, bodies, checkEndpointParameters), { numRuns });
  });
});
