import fc, { type Arbitrary } from 'fast-check';
import { checkEndpointParameters } from '../../fuzz/parsers/endpoint-parameters.ts';

// make fuzz sets more.
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 1000);

const latin1 = fc
  .uint8Array({ maxLength: 40 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'));
const text = fc.string({ unit: 'binary', maxLength: 40 });

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
  it('the body of a token request is read exactly, or refused', () => {
    fc.assert(fc.property(headers, bodies, checkEndpointParameters), { numRuns });
  });
});
