import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4096);
let used = pool.length;

/**
 * Bytes from the system's cryptographic generator. They are drawn for many logins at once: asking
 * the system costs more than the rest of what protects a login.
 *
 * @param length at most 4096
 */
export function randomBytes(length: number): Buffer {
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + length));
  // Given out once, and kept nowhere else.
  pool.fill(0, used, used + length);
  used += length;
  return bytes;
}
