import { hash } from 'node:crypto';

const blockLength = 64;
const innerPad = 0x36;
const outerPad = 0x5c;

/**
 * HMAC-SHA256 of the parts, one after the other.
 *
 * Made of Node's one-shot hash: the context that `createHmac` sets up costs a login more than all
 * else that protects it.
 *
 * @see RFC 2104 §2
 */
export function hmacSha256(key: Buffer, parts: readonly Buffer[]): Buffer {
  const short = key.length > blockLength ? sha256([key]) : key;
  return sha256([padded(short, outerPad), sha256([padded(short, innerPad), ...parts])]);
}

function padded(key: Buffer, pad: number): Buffer {
  const block = Buffer.allocUnsafe(blockLength).fill(pad);
  for (let index = 0; index < key.length; index += 1) block[index] = pad ^ (key[index] ?? 0);
  return block;
}

// By way of a string: a digest that comes as a buffer brings an allocation of its own.
function sha256(parts: readonly Buffer[]): Buffer {
  return Buffer.from(hash('sha256', Buffer.concat(parts), 'latin1'), 'latin1');
}
