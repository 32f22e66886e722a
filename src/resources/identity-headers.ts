import type { Identity } from '../access/identity.ts';

/**
 * Builds request headers from an identity, for a server behind a proxy. No header is left out, because some proxies pass
 * the client's own header where the relay sends none. Then a client could claim to be somebody else. Only the gateway
 * may leave out the empty headers, because it removes the client's own headers itself.
 */
export function buildIdentityHeaders({ sub, preferred_username, email, groups = [] }: Identity) {
  return {
    'X-Forwarded-User': encodeValue(sub),
    'X-Forwarded-Preferred-Username': encodeValue(preferred_username ?? ''),
    'X-Forwarded-Email': encodeValue(email ?? ''),
    'X-Forwarded-Groups': groups.map(encodeValue).join(','),
  };
}

/** Visible ASCII except `%`, and except `,`, which would split a group in two. */
const plainValue = /^[\x21-\x24\x26-\x2b\x2d-\x7e]*$/;

/** Percent-encodes all characters that {@link plainValue} does not allow. */
function encodeValue(value: string): string {
  if (plainValue.test(value)) return value;
  return Buffer.from(value)
    .toString('latin1')
    .replaceAll(/./gs, (byte) => {
      if (plainValue.test(byte)) return byte;
      const code = byte.charCodeAt(0).toString(16).toUpperCase();
      return `%${code.padStart(2, '0')}`;
    });
}
