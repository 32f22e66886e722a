/** Whether each relay has every option that its test allows, as in `make test-options`. */
export const everyOption = process.env['EVERY_OPTION'] === '1';

/** The path of the public address, which a proxy cuts off. */
export const basePath = everyOption ? '/base' : '';

/** The part of a path that a proxy passes on. */
export const withoutBase = (path: string) => (path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path);

/**
 * The ports of servers that speak TLS now. Requests and connections of the harness check no certificate there. Another
 * server may get the port as soon as a server has ended, and may speak no TLS.
 */
export const tlsPorts = new Set<number>();
