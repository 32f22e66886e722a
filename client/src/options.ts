import type { LoginOptions } from '../client.d.ts';

/**
 * Checks the options of a page.
 *
 * @returns the options, and the origins that get the token. Of the options, `relay` has no slash at its end: it is the
 *   address of the registration, `…/auth/<registration>`, from which the other endpoints are found by `/..`
 * @throws {TypeError} that says which option is wrong, and why
 */
export function checkOptions(options: LoginOptions) {
  const { relay, clientId, apis = [], mode, resource, redirectUri, scope, debug, ...others } = options;
  const check = (holds: unknown, option: string, must: string) => {
    const value = options[option as keyof LoginOptions];
    if (!holds) throw new TypeError(`createLogin: ${option} ${must}: ${value}`);
  };
  const relayPattern = /^https?:.+\/auth\/[^/?#]+\/?$/;
  check(relayPattern.test(relay), 'relay', 'must have a path, such as …/auth/github');
  check(clientId, 'clientId', 'must name the front end');
  check(!mode || mode === 'session', 'mode', "must be 'session'");
  check(
    resource === undefined || (!mode && /^https?:\/\/[^/]/.test(resource)),
    'resource',
    'must be an address, without mode',
  );
  check(
    apis.every((api) => /^https?:\/\/[^/]+\/?$/.test(api)),
    'apis',
    'must be origins',
  );
  for (const option in others) check(false, option, 'is no option');
  const origins = [relay, resource ?? relay, ...apis].map((url) => new URL(url).origin);
  return { ...options, relay: relay.replace(/\/$/, ''), origins };
}
