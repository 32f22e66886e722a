import type { Evidence } from '../../access/access.ts';
import { hasAtSign, readDomain } from '../../access/addresses.ts';
import type { Allow } from '../../access/allow.ts';
import type { Item } from '../../access/fields.ts';
import { faultIn, isTrue, isTrueIn, textIn } from '../../access/fields.ts';
import { readIdToken } from '../../access/id-token.ts';
import type { Identity, IdentityQuestion } from '../../access/identity.ts';
import { type FieldFault, RelayError } from '../../failures/relay-error.ts';
import { openidAccess } from '../../providers/identity-servers.ts';
import type { AccessAnswer } from '../../providers/provider.ts';
import { type Finding, findingsOn } from '../finding.ts';
import { findPathsByName } from './fields.ts';
import type { Trial } from './trial.ts';
import { ignoreCall } from './trial.ts';

/** Names that providers use for an id, a login name, an address and its verification; in lower case, without `_`. */
const idNames = [
  'sub',
  'id',
  'userid',
  'uid',
  'accountid',
  'uuid',
  'guid',
  'openid',
  'memberid',
  'ownerid',
  'personid',
];
const loginNames = ['login', 'username', 'preferredusername', 'screenname', 'handle', 'nickname', 'loginname'];
const addressNames = ['email', 'mail', 'emailaddress', 'primaryemail', 'value'];
const verifiedNames = [
  'emailverified',
  'verified',
  'verifiedemail',
  'isverified',
  'emailisverified',
  'emailverifiedat',
  'verifiedat',
];

/** The number of characters after which a text about the person is cut off. */
const longestText = 100;

/** Shortens a text about the person for the operator's terminal. Of an e-mail address, it shows only the domain. */
function toShownText(text: string): string {
  const domain = readDomain(text);
  if (domain !== undefined) return `…@${toShownText(domain)}`;
  if (text.includes('@')) return '(an address of another form)';
  return [...text.replaceAll(/\p{C}/gu, '')].slice(0, longestText).join('');
}

/** Describes a person without the e-mail address and the names of the groups. */
export function describePerson({ sub, preferred_username: name, email, groups }: Identity): string {
  const parts = [`id ${toShownText(sub)}`, name === undefined ? 'no login name' : `login name ${toShownText(name)}`];
  if (email !== undefined) parts.push(`a verified address at ${readDomain(email)}`);
  if (groups !== undefined) parts.push(groups.length === 1 ? '1 group' : `${groups.length} groups`);
  return parts.join(', ');
}

/** Asks the provider who the person is and whether the person may log in, as a login does. Returns a failure as a value. */
export async function judgePerson(
  { login, provider }: Trial,
  evidence: Evidence,
  allows: readonly (Allow | undefined)[],
  question: IdentityQuestion | undefined,
) {
  const registration = await login.registrationAt(provider);
  try {
    return await registration.judge(evidence, allows, question, ignoreCall);
  } catch (error) {
    if (error instanceof RelayError) return error;
    throw error;
  }
}

/** Asks for the id and the login name of the person, as a login without a rule and without claims does. */
export async function askForIdAndName(trial: Trial, evidence: Evidence) {
  return await judgePerson(trial, evidence, [undefined], { claims: [] });
}

/**
 * Says who the person is for `users` and resources, or which settings are missing for that.
 *
 * @param record the user record, or the claims of the ID token, in which proposals for the settings are found
 * @param isNeeded whether a rule or a resource asks for the id. Then nobody can log in without an id
 */
export async function checkPerson(
  trial: Trial,
  evidence: Evidence,
  record: Item | undefined,
  isNeeded: boolean,
): Promise<Finding[]> {
  const { describeOfProvider } = trial;
  const { ok, problem, warning } = findingsOn('person');
  const verdict = await askForIdAndName(trial, evidence);
  if (verdict instanceof RelayError) {
    const fields = verdict.fields ?? [];
    const isTokenAtFault =
      trial.provider.userFrom === 'id-token' && fields.every(({ field }) => comparedClaims.has(field));
    const fix = isTokenAtFault
      ? adviseOnIdToken(trial, fields)
      : `set ${describeOfProvider('userId')} to where the id is${proposePaths(record, idNames)}`;
    const fault = describeFaults(fields) ?? 'has no id';
    const finding = isNeeded
      ? problem(`${fault}: nobody can log in`, fix)
      : warning(`${fault}: nothing asks for it yet, and users or a resource would`, fix);
    return [finding, ...proposeName(trial, record)];
  }
  const { identity } = verdict;
  if (identity === undefined) return [];
  const person = ok(`${describePerson(identity)}`);
  return identity.preferred_username === undefined ? [person, ...proposeName(trial, record)] : [person];
}

/** Proposes a field for the login name, if none is read. Not every provider has login names. */
function proposeName({ provider, describeOfProvider }: Trial, record: Item | undefined): Finding[] {
  const users = provider.access?.users ?? openidAccess.users;
  const nameField = ('name' in users ? users.name : undefined) ?? 'preferred_username';
  if (record !== undefined && textIn(record, nameField) !== undefined) return [];
  const proposed = proposePaths(record, loginNames, isNameLike);
  if (proposed === '') return [];
  const hint = `the relay reads none; set ${describeOfProvider('userName')} to where it is${proposed}`;
  return [findingsOn('login name').ok(hint)];
}

/** The claims that `readIdToken` compares with the login, and `id_token` if there is no token at all. */
const comparedClaims: ReadonlySet<string> = new Set(['id_token', 'iss', 'aud', 'azp', 'exp', 'nonce']);

/** Says what to correct if an ID token does not fit this login. The first unfit claim decides. */
function adviseOnIdToken({ describe, describeOfProvider }: Trial, fields: readonly FieldFault[]): string {
  const [{ field } = { field: '' }] = fields;
  if (field === 'id_token') return `add openid to ${describe('scope')}, or remove ${describeOfProvider('userFrom')}`;
  if (field === 'iss') return `set ${describe('issuer')} to what the ID token names`;
  if (field === 'exp') return 'correct the clock of this machine or of the provider';
  return `remove ${describeOfProvider('userFrom')}: this ID token is not one for this login`;
}

/** Says whether the record has an address that counts as verified, or which settings are missing for that. */
export function checkAddress(trial: Trial, record: Item | undefined): Finding[] {
  const { ok, warning } = findingsOn('e-mail address');
  const answer: AccessAnswer = trial.provider.access?.emails ?? openidAccess.emails;
  // The record says nothing about addresses that the provider has in another answer (`from`).
  if (record === undefined || (answer.kind === 'values' && answer.from !== undefined)) return [];
  if (answer.kind !== 'values') {
    const setting = trial.describeOfProvider('userEmailVerified');
    const proposed = proposePaths(record, verifiedNames, isVerificationLike);
    return [warning('no address counts as verified', `set ${setting}${proposed}`)];
  }
  const { fields, verified } = answer;
  const [field = ''] = fields;
  const isMissing = faultIn(record, field) !== undefined;
  const isVerified = verified === undefined || isTrueIn(record, verified, field);
  if (!isMissing && isVerified) return [ok(`is in ${field}, and counts`)];
  const findings: Finding[] = [];
  if (isMissing) findings.push(warning(...adviseOnMissingAddress(trial, record, field)));
  // A missing address need not be verified. But if the record seems to say elsewhere what is verified, advise on both.
  const isVerificationElsewhere = proposePaths(record, verifiedNames, isVerificationLike) !== '';
  if (!isVerified && (!isMissing || isVerificationElsewhere)) {
    findings.push(warning(...adviseOnUnverifiedAddress(trial, record, verified)));
  }
  return findings;
}

type Complaint = readonly [message: string, fix: string];

/** @param field the field that should have the address */
function adviseOnMissingAddress({ describeOfProvider }: Trial, record: Item, field: string): Complaint {
  const proposed = proposePaths(record, addressNames, isAddressLike);
  return [
    `there is none in ${field}`,
    `set ${describeOfProvider('userEmail')} to where it is${proposed}, or ask for it in scope`,
  ];
}

/** @param verified the field that should say that the address is verified */
function adviseOnUnverifiedAddress({ describeOfProvider }: Trial, record: Item, verified: string): Complaint {
  const proposed = proposePaths(record, verifiedNames, isVerificationLike);
  const otherwise = proposed === '' ? ', or to always if the provider gives the addresses out itself' : '';
  return [
    `${verified} does not say that it is verified`,
    `set ${describeOfProvider('userEmailVerified')} to where the provider says it${proposed}${otherwise}`,
  ];
}

/** Whether a value may be a login name. An e-mail address is not proposed, because anybody may be able to set it. */
const isNameLike = (value: unknown) => typeof value === 'string' && value !== '' && !hasAtSign(value);
/** Whether a value may say that an address is verified or not. Only the yes has several forms (`isTrue`). */
const isVerificationLike = (value: unknown) => value === false || isTrue(value);
const isAddressLike = (value: unknown) => typeof value === 'string' && readDomain(value) !== undefined;

/** Proposes paths in the record for a setting, as the end of a sentence; empty if there are none. */
function proposePaths(
  record: Item | undefined,
  names: readonly string[],
  isWanted?: (value: unknown) => boolean,
): string {
  const paths = record ? findPathsByName(record, names, isWanted) : [];
  return paths.length === 0 ? '' : `, which may be ${paths.join(' or ')}`;
}

/** Says which fields have no usable value, and never shows their values; undefined if there are none. */
export function describeFaults(fields: readonly FieldFault[] = []): string | undefined {
  const texts = fields.map(({ field, reason }) => `${field} ${reasons[reason]}`);
  return texts.length === 0 ? undefined : texts.join(', and ');
}

const reasons: Readonly<Record<FieldFault['reason'], string>> = {
  missing: 'is missing',
  shape: 'has another shape',
  unverified: 'is not verified',
  mismatch: 'is that of another login, client or issuer',
  expired: 'is over',
};

/**
 * Says whether an ID token fits this login, even if the relay does not read it.
 *
 * @param isNeeded whether only the ID token can say who the person is, because there is no user record
 */
export function checkIdToken(trial: Trial, idToken: string | undefined, isNeeded: boolean): Finding[] {
  const { provider, registration, grant, describeOfProvider } = trial;
  if (idToken === undefined) return [];
  const { ok, notChecked } = findingsOn('ID token');
  const expected = {
    issuer: provider.issuer,
    clientId: registration.clientId,
    nonce: { value: grant.nonce },
    now: Date.now(),
  };
  try {
    readIdToken(idToken, expected);
    const isProposed = isNeeded && provider.userFrom !== 'id-token';
    return [
      ok(isProposed ? `fits this login: ${describeOfProvider('userFrom')} could be id-token` : 'fits this login'),
    ];
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    // If the relay reads it, `checkPerson` reports the fault.
    if (provider.userFrom === 'id-token') return [];
    return [notChecked(`${describeFaults(error.fields)}, and the relay does not read it`)];
  }
}
