import manifest from '../package.json' with { type: 'json' };

export const version = manifest.version;

/** How the relay names itself to other servers. @see RFC 9110 §10.1.5 */
export const userAgent = `login-relay/${version}`;
