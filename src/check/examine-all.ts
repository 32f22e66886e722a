import type { ConfigReading } from '../config/config.ts';
import { frontEndsOf, loginConfig, registrationsOf } from '../config/login-config.ts';
import { examine, examineFrontEnd } from './examine.ts';
import type { Finding } from './finding.ts';

const atOnce = 20;

/**
 * Examines every registration and every front end of a configuration file, in its order. Each finding
 * names the one that it is about.
 */
export async function examineAll({ config, namingOf }: ConfigReading): Promise<Finding[]> {
  const ofRegistrations = mapInGroups(config.registrations, async (registration) => {
    const [frontEnd = config.frontEnds[0]] = frontEndsOf(config, registration);
    const login = loginConfig(config, registration, frontEnd);
    const naming = namingOf(registration.name, frontEnd.name);
    return about(registration.name, (await examine(login, naming, false)).findings);
  });
  const ofFrontEnds = mapInGroups(config.frontEnds, async (frontEnd) => {
    const [registration = config.registrations[0]] = registrationsOf(config, frontEnd);
    const login = loginConfig(config, registration, frontEnd);
    const naming = namingOf(registration.name, frontEnd.name);
    return about(frontEnd.name, await examineFrontEnd(login, naming));
  });
  // At once, because each may wait until the time for a call is over.
  return (await Promise.all([ofRegistrations, ofFrontEnds])).flat(2);
}

/** The results in order. A thousand addresses that do not answer must not take hours. */
async function mapInGroups<Item, Result>(
  items: readonly Item[],
  task: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += atOnce) {
    results.push(...(await Promise.all(items.slice(start, start + atOnce).map(task))));
  }
  return results;
}

function about(name: string, findings: readonly Finding[]): Finding[] {
  return findings.map((finding) => ({ ...finding, subject: `${finding.subject} (${name})` }));
}
