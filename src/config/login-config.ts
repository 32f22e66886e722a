import type { CmsBackend } from '../providers/provider.ts';
import { isLoopback } from '../urls.ts';
import type { Config, FrontEndConfig, RegistrationConfig, RelaySettings } from './config.ts';

/** What the logins of one front end at one registration are configured with. */
export interface LoginConfig
  extends RelaySettings,
    Omit<RegistrationConfig, 'name'>,
    Omit<FrontEndConfig, 'name' | 'registrations'> {
  /** The name of the registration. */
  readonly pathName: string;
  /** Whether a file gives that name. */
  readonly registrationsAreNamed: boolean;
  /** The name of the front end. */
  readonly frontEnd: string;
}

/**
 * Views a configuration as that of one registration and one front end.
 *
 * @param registration by default, the first one
 * @param frontEnd by default, the first one
 */
export function loginConfig(
  config: Config,
  registration: RegistrationConfig = config.registrations[0],
  frontEnd: FrontEndConfig = config.frontEnds[0],
): LoginConfig {
  const { registrations: _, frontEnds: __, ...relay } = config;
  const { name: pathName, ...ofRegistration } = registration;
  const { name, registrations: ___, ...ofFrontEnd } = frontEnd;
  return Object.freeze({
    ...relay,
    ...ofRegistration,
    ...ofFrontEnd,
    pathName,
    frontEnd: name,
  });
}

/** The front ends that may use a registration, in their order. */
export function frontEndsOf(
  { frontEnds }: Config,
  { name }: RegistrationConfig,
): readonly FrontEndConfig[] {
  return frontEnds.filter(({ registrations }) => registrations.includes(name));
}

/** The registrations that a front end may use, in their order. */
export function registrationsOf(
  { registrations }: Config,
  { registrations: usable }: FrontEndConfig,
): readonly RegistrationConfig[] {
  return registrations.filter(({ name }) => usable.includes(name));
}

/**
 * Whether front ends can get refresh tokens. Beyond this machine they need a key file: otherwise the
 * client secret would open them.
 */
export function issuesRefreshTokens({
  refreshTokens,
  keySecrets,
  baseUrl,
}: RelaySettings): boolean {
  const isKeySafe = keySecrets !== undefined || isLoopback(new URL(baseUrl));
  return refreshTokens !== 'off' && isKeySafe;
}

/** How a CMS uses the provider of a registration. Undefined: no CMS can. */
export function cmsBackendOf({
  provider,
}: Pick<RegistrationConfig, 'provider'>): CmsBackend | undefined {
  return 'known' in provider ? provider.known.cms : undefined;
}
