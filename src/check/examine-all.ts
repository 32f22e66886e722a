import type { Config, ConfigReading, FrontEndConfig } from '../config/config.ts';
import { loginConfig } from '../config/login-config.ts';
import { examine, examineFrontEnd } from './examine.ts';
import type { Finding } from './finding.ts';

/**
 * Examines every registration and every front end of a configuration file, in its order. Each finding
 * names the one that it is about.
 *
 * @param now milliseconds since 1970
 */
export async function examineAll(
  { config, namingOf }: Pick<ConfigReading, 'config' | 'namingOf'>,
  now: () => number,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const registration of config.registrations) {
    const [frontEnd = config.frontEnds[0]] = usersOf(config, registration.name);
    const login = loginConfig(config, registration, frontEnd);
    const examined = await examine(login, namingOf(registration.name, frontEnd.name), now, false);
    findings.push(...about(registration.name, examined.findings));
  }
  for (const frontEnd of config.frontEnds) {
    const [registration = config.registrations[0]] = config.registrations.filter(({ name }) =>
      frontEnd.registrations.includes(name),
    );
    const login = loginConfig(config, registration, frontEnd);
    const examined = await examineFrontEnd(login, namingOf(registration.name, frontEnd.name));
    findings.push(...about(frontEnd.name, examined));
  }
  return findings;
}

function usersOf({ frontEnds }: Config, registration: string): readonly FrontEndConfig[] {
  return frontEnds.filter(({ registrations }) => registrations.includes(registration));
}

function about(name: string, findings: readonly Finding[]): Finding[] {
  return findings.map((finding) => ({ ...finding, subject: `${finding.subject} (${name})` }));
}
