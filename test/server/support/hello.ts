import { randomBytes } from 'node:crypto';

const numberOf = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const withLength = (bytes: Buffer) => Buffer.concat([numberOf(bytes.length), bytes]);
const extension = (type: number, content: Buffer) => Buffer.concat([numberOf(type), withLength(content)]);
const allOf = (numbers: readonly number[]) => Buffer.concat(numbers.map(numberOf));

/** The bytes of a public key in each group that a hello may have a share for. */
const keyLengths: Readonly<Record<number, number>> = { 29: 32, 30: 56 };

/** The hello of a TLS 1.3 client that supports these groups, and has key shares for some of them. @see RFC 8446 §4.1.2 */
export function helloWith(groups: readonly number[], shares: readonly number[]): Buffer {
  const keys = shares.map((group) =>
    Buffer.concat([numberOf(group), withLength(randomBytes(keyLengths[group] ?? 65))]),
  );
  const extensions = Buffer.concat([
    extension(43, Buffer.from([2, 3, 4])),
    extension(10, withLength(allOf(groups))),
    extension(13, withLength(allOf([0x0804, 0x0403, 0x0401]))),
    extension(51, withLength(Buffer.concat(keys))),
  ]);
  const body = Buffer.concat([
    numberOf(0x0303),
    randomBytes(32),
    Buffer.of(0),
    withLength(allOf([0x1301])),
    Buffer.of(1, 0),
    withLength(extensions),
  ]);
  const message = Buffer.concat([Buffer.of(1, 0), withLength(body)]);
  return Buffer.concat([Buffer.of(22, 3, 1), withLength(message)]);
}

/** The random of a hello of the server that is a request for a second hello. @see RFC 8446 §4.1.3 */
export const randomOfRetry = 'cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c';
