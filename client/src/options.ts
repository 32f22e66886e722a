import type { LoginOptions } from '../client.d.ts';

/**
 * The options, and the origins that get the token.
 *
 * @throws {TypeError} that names the wrong option
 */
export function checked(options: LoginOptions) {
  const relay = `${options.relay}`.replace(/\/$/, '');
  const { clientId, apis = [], mode, resource } = options;
  const check = (holds: unknown, option: keyof LoginOptions) => {
    if (!holds) throw new TypeError(`createLogin: ${option} is ${options[option]}`);
  };
  check(/^https?:.+\/auth\/[^/?#]+$/.test(relay), 'relay');
  check(clientId, 'clientId');
  check(resource === undefined || (!mode && /^https?:\/\/[^/]/.test(resource)), 'resource');
  check(
    apis.every((api) => /^https?:\/\/[^/]+\/?$/.test(api)),
    'apis',
  );
  const origins = [relay, resource ?? relay, ...apis].map((url) => new URL(url).origin);
  return { ...options, relay, origins };
}
