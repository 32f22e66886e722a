import type {
  Config,
  FrontEndConfig,
  RegistrationConfig,
  RelaySettings,
} from '../config/config.ts';

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
