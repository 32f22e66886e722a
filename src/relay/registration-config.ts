import type { Config, RegistrationConfig } from '../config/config.ts';

/** The relay's name towards the front ends of one registration. @see RFC 8414 §2, RFC 9207 §2 */
export function issuerOf({ baseUrl }: Config, { name }: RegistrationConfig): string {
  return `${baseUrl}/auth/${name}`;
}

/**
 * What codes, refresh tokens and sessions are bound to. The name alone would not do: an operator may give it to another
 * client, or move it to another issuer, and the tokens of the one must not reach the provider of the other.
 */
export function audienceOf(registration: RegistrationConfig): string {
  const { name, clientId } = registration;
  const issuer = issuerOfProvider(registration);
  return issuer === undefined ? `${name} ${clientId}` : `${name} ${issuer} ${clientId}`;
}

/** The configured issuer of a provider, if there is one. Client identifiers are unique only at one issuer. */
export function issuerOfProvider({ provider }: RegistrationConfig): string | undefined {
  return 'discovered' in provider ? provider.discovered.issuer : undefined;
}
