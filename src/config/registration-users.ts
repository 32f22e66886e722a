import type { Config, FrontEndConfig, RegistrationConfig } from './config.ts';

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
