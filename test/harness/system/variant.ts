/** Whether each relay has every option that its test allows, as in `make test-options`. */
export const everyOption = process.env['EVERY_OPTION'] === '1';

/** The path of the public address, which a proxy cuts off. */
export const basePath = everyOption ? '/base' : '';

/** The part of a path that a proxy passes on. */
export const withoutBase = (path: string) => (path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path);

/** The ports of relays that serve https only because of this. Clients ask for no certificate there. */
export const tlsPorts = new Set<number>();
