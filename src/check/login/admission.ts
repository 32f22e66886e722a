import type { Evidence } from '../../access/access.ts';
import type { FrontEndConfig } from '../../config/config.ts';
import {
  frontEndsWithBrowsers,
  type ResourceAtRegistration,
  reportedName,
  resourcesOfFrontEnd,
} from '../../config/relations.ts';
import { type FieldFault, RelayError } from '../../failures/relay-error.ts';
import { openidAccess } from '../../providers/identity-servers.ts';
import type { AccessAnswer, AccessAnswers } from '../../providers/provider.ts';
import { identityAt } from '../../resources/resource.ts';
import type { ProviderSetting } from '../context.ts';
import { type Finding, findingsOn } from '../finding.ts';
import { describeFaults, describePerson, judgePerson } from './person.ts';
import type { Trial } from './trial.ts';

/** The number of ways to log in after which the check stops, because each may need several calls. */
const maxWays = 50;

/** A way to log in at a registration: a front end, for a resource or for the provider's API. */
interface LoginWay {
  readonly frontEnd: FrontEndConfig;
  readonly resource?: ResourceAtRegistration;
}

/** Finds each front end of the registration, once for each of its resources. */
function findLoginWays({ config, registration }: Pick<Trial, 'config' | 'registration'>): LoginWay[] {
  return frontEndsWithBrowsers(config, registration).flatMap((frontEnd) => {
    const resources = resourcesOfFrontEnd(config, frontEnd, registration);
    return resources.length === 0 ? [{ frontEnd }] : resources.map((resource) => ({ frontEnd, resource }));
  });
}

/** Finds out whether any rule or resource needs the person's id, or a verified e-mail address. */
export function findPersonNeeds(trial: Pick<Trial, 'config' | 'registration'>) {
  const ways = findLoginWays(trial);
  const rules = [
    trial.registration.allow,
    ...ways.flatMap(({ frontEnd, resource }) => [frontEnd.allow, resource?.allow]),
  ];
  const claims = ways.flatMap(({ resource }) => resource?.identity.claims ?? []);
  return {
    id: ways.some(({ resource }) => resource !== undefined) || rules.some((allow) => allow?.users !== undefined),
    address: claims.includes('email') || rules.some((allow) => allow?.emails ?? allow?.emailDomains),
  };
}

/** Says for each front end and resource whether this person may log in, and what the resource learns. */
export async function checkAdmission(trial: Trial, evidence: Evidence): Promise<Finding[]> {
  const { calls, config, registration } = trial;
  calls.setPurpose('who may log in');
  const ways = findLoginWays({ config, registration });
  const findings: Finding[] = [];
  for (const way of ways.slice(0, maxWays)) findings.push(...(await checkWay(trial, evidence, way)));
  if (ways.length > maxWays) {
    const message = `${ways.length - maxWays} further front ends and resources`;
    findings.push(findingsOn('who may log in').notChecked(message));
  }
  return findings;
}

/** Says whether this person may log in by one way. Nothing has to be said if no rule and no resource asks. */
async function checkWay(trial: Trial, evidence: Evidence, { frontEnd, resource }: LoginWay): Promise<Finding[]> {
  const { config, registration, login, provider } = trial;
  const current = await login.registrationAt(provider);
  const allows = current.allowsAt(frontEnd, resource);
  const isOpenToAll = allows.every((allow) => allow === undefined);
  if (isOpenToAll && resource === undefined) return [];
  const subject = resource ? `who may use ${resource.name}` : 'who may log in';
  const { ok, problem, warning } = findingsOn(`${subject} (${reportedName(config, frontEnd)} at ${registration.name})`);
  const verdict = await judgePerson(trial, evidence, allows, resource?.identity);
  if (verdict instanceof RelayError) {
    const faults = describeFaults(verdict.fields);
    const fix = faults === undefined ? null : adviseOnFields(trial, verdict.fields);
    return [problem(faults ?? verdict.detail, fix)];
  }
  const { refusedBy, identity, fields } = verdict;
  if (refusedBy !== undefined) {
    // In the order of `allowsAt`, so that `refusedBy` is the index of the owner of the rule.
    const owners = [`providers.${registration.name}`, `front-ends.${frontEnd.name}`, `resources.${resource?.name}`];
    const rule = config.registrationsAreNamed ? ` (${owners[refusedBy]})` : '';
    const why = describeFaults(fields);
    const message = `allow refuses this person${rule}${why === undefined ? '' : `: ${why}`}`;
    return [warning(message, adviseOnFields(trial, fields))];
  }
  if (identity === undefined || resource === undefined) return [ok('this person may')];
  return [ok(`this person may: ${describePerson(identityAt(resource, identity))}`)];
}

/** Says which settings name the fields that did not help. @returns null if no field was read */
function adviseOnFields(
  { provider, describe, describeOfProvider }: Trial,
  fields: readonly FieldFault[] = [],
): string | null {
  if (fields.length === 0) return null;
  const settings = fields.map((fault) => {
    const setting = findSetting(provider.access ?? {}, fault);
    return setting === undefined ? 'groups-claim' : describeOfProvider(setting);
  });
  const unique = [...new Set(settings)].join(' and ');
  return `if the provider says it elsewhere, correct ${unique}; or add to ${describe('scope')} what it needs`;
}

/** Finds the setting that names a field of the person. @returns undefined for a field with groups */
function findSetting(access: AccessAnswers, { field, reason }: FieldFault): ProviderSetting | undefined {
  const users: AccessAnswer = access.users ?? openidAccess.users;
  const emails: AccessAnswer = access.emails ?? openidAccess.emails;
  if (users.kind === 'values' && users.fields.includes(field)) return 'userId';
  if (users.kind === 'values' && users.name === field) return 'userName';
  const isOfEmails = emails.kind === 'values' && [...emails.fields, emails.verified].includes(field);
  if (!isOfEmails) return undefined;
  return reason === 'unverified' ? 'userEmailVerified' : 'userEmail';
}
