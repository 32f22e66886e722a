import manifest from '../package.json' with { type: 'json' };

export const version = manifest.version;

/** The relay's name in requests to other servers. @see RFC 9110 §10.1.5 */
export const userAgent = `login-relay/${version}`;
