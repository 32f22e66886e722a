import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import type { Provider } from '../providers/provider.ts';

/** The relay's name towards the front ends of one registration. @see RFC 8414 §2, RFC 9207 §2 */
export function issuerOf({ baseUrl }: Config, { name }: RegistrationConfig): string {
  return `${baseUrl}/auth/${name}`;
}

/**
 * What states, codes, refresh tokens and sessions are bound to. The name alone would not do: an operator may give it to
 * another client, or to a provider at another host, which must get neither the tokens of the earlier one nor the secret
 * with them. Client identifiers are unique only at one issuer.
 */
export function audienceOf(
  { name, clientId, provider: settings }: RegistrationConfig,
  { tokenUrl }: Provider,
): string {
  const issuer = 'discovered' in settings ? settings.discovered.issuer : '-';
  return [name, new URL(tokenUrl).origin, issuer, clientId].join(' ');
}

/** What codes, refresh tokens and sessions of a front end are bound to: the operator may have lost the old origin. */
export function audienceOfFrontEnd({ name, origin }: FrontEndConfig): string {
  return `${name} ${origin}`;
}
