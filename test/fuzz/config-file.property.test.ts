import fc from 'fast-check';
import { checkConfigFile } from '../../fuzz/parsers/config-file.ts';
import { fileSettings } from '../../src/config/settings/settings.ts';

// make fuzz sets more.
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 1000);

const keys = Object.values(fileSettings).flatMap((settings) => settings.map(({ key }) => key));

/** Pieces that YAML gives a meaning. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...keys, 'providers', 'front-ends', 'app', '__proto__') },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      ...[': ', ':', '\n', '\n  ', '\n    ', '\n- ', '- ', '? ', '{', '}', '[', ']', ', '],
      ...['&a ', '*a', '<<: *a', '!!str ', '!x ', '|\n', '>-\n  ', '"', "'", '\t', '#', '---\n'],
      ...['%YAML 1.1\n', '...\n', '~', 'null', 'true', 'off', '0x1F', '.inf', '\\x', '\uFEFF'],
    ),
  },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
);
const broken = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));

const value = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.stringMatching(/^[A-Za-z0-9./:*-]{1,40}$/),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string({ maxLength: 20 }), { maxLength: 3 }),
);
const settings = (level: keyof typeof fileSettings) =>
  fc.dictionary(fc.constantFrom(...fileSettings[level].map(({ key }) => key), 'scop'), value, {
    maxKeys: 5,
  });
const entries = (level: 'providers' | 'front-ends') =>
  fc.dictionary(
    fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/),
      fc.constantFrom('callback', 'github', 'a/b'),
    ),
    settings(level),
    { maxKeys: 3 },
  );
const whole = fc
  .record(
    { relay: settings('relay'), providers: entries('providers'), frontEnds: entries('front-ends') },
    { requiredKeys: [] },
  )
  .map(({ relay, providers, frontEnds }) => ({
    ...relay,
    ...(providers && { providers }),
    ...(frontEnds && { 'front-ends': frontEnds }),
  }));

describe('the configuration file, whatever is in it,', () => {
  it('is refused with the places of its faults, or read', () => {
    fc.assert(
      fc.property(broken, (text) => checkConfigFile(text)),
      { numRuns },
    );
  });

  it('is read as it is printed again, and no fault quotes its values', () => {
    fc.assert(
      fc.property(whole, (content) => {
        const values: string[] = [];
        // JSON is YAML.
        const text = JSON.stringify(content, (_, one: unknown) => {
          if (typeof one === 'string') values.push(one);
          return one;
        });
        checkConfigFile(text, values);
      }),
      { numRuns },
    );
  });
});
