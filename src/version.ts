import manifest from '../package.json' with { type: 'json' };

/** The version of this relay. */
export const version = manifest.version;
