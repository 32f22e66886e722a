/** Whether each relay has every option that goes with its test: `make test-options`. */
export const everyOption = process.env['EVERY_OPTION'] === '1';

/** The path of the public address, which a proxy cuts off. */
export const basePath = everyOption ? '/base' : '';

/** What a proxy leaves of a path. */
export const withoutBase = (path: string) => (path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path);

/** The ports of relays that serve https only because of this. Clients ask for no certificate there. */
export const tlsPorts = new Set<number>();
