import type { Evidence } from '../../access/access.ts';
import { hasAtSign, readDomain } from '../../access/addresses.ts';
import type { Allow } from '../../access/allow.ts';
import type { Item } from '../../access/fields.ts';
import { faultIn, isTrue, isTrueIn, textIn } from '../../access/fields.ts';
import { readIdToken } from '../../access/id-token.ts';
import type { Identity, IdentityQuestion } from '../../access/identity.ts';
import { type FieldFault, RelayError } from '../../failures/relay-error.ts';
import { parseJsonObject } from '../../oauth/json.ts';
import { openidAccess } from '../../providers/identity-servers.ts';
import type { AccessAnswer } from '../../providers/provider.ts';
import { type Finding, findingsOn } from '../finding.ts';
import { findPathsByName } from './fields.ts';
import type { Trial } from './trial.ts';
import { unobserved } from './trial.ts';

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

const longest = 100;

/** A text about the person for the operator's terminal: only the domain of an address. */
function shownText(text: string): string {
  const domain = readDomain(text);
  if (domain !== undefined) return `…@${shownText(domain)}`;
  const shown = [...text.replaceAll(/\p{C}/gu, '')].slice(0, longest).join('');
  return text.includes('@') ? '(an address of another form)' : shown;
}

export function describePerson({ sub, preferred_username: name, email, groups }: Identity): string {
  const parts = [
    `id ${shownText(sub)}`,
    name === undefined ? 'no login name' : `login name ${shownText(name)}`,
    ...(email === undefined ? [] : [`a verified address at ${readDomain(email)}`]),
    ...(groups === undefined ? [] : [groups.length === 1 ? '1 group' : `${groups.length} groups`]),
  ];
  return parts.join(', ');
}

/** Asks who may log in and who it is, as a login does. */
export async function judgePerson(
  { login, provider }: Trial,
  evidence: Evidence,
  allows: readonly (Allow | undefined)[],
  question: IdentityQuestion | undefined,
) {
  const registration = await login.registrationAt(provider);
  try {
    return await registration.judge(evidence, allows, question, unobserved);
  } catch (error) {
    if (error instanceof RelayError) return error;
    throw error;
  }
}

/** Says who the person is for `users` and resources, or which settings are missing for that. */
export async function checkPerson(
  trial: Trial,
  evidence: Evidence,
  record: Item | undefined,
  isNeeded: boolean,
): Promise<Finding[]> {
  const { describeOfProvider } = trial;
  const { ok, problem, warning } = findingsOn('person');
  const verdict = await judgePerson(trial, evidence, [undefined], { claims: [] });
  const complain = isNeeded ? problem : warning;
  if (verdict instanceof RelayError) {
    const fields = verdict.fields ?? [];
    const proposed = proposePaths(record, idNames);
    const isOfToken = trial.provider.userFrom === 'id-token' && fields.every(({ field }) => ofIdToken.has(field));
    const fix = isOfToken
      ? adviceOnIdToken(trial, fields)
      : `set ${describeOfProvider('userId')} to where the id is${proposed}`;
    const none = isNeeded ? 'nobody can log in' : 'nothing asks for it yet, and users or a resource would';
    return [complain(`${describeFaults(fields) ?? 'has no id'}: ${none}`, fix), ...proposeName(trial, record)];
  }
  const { identity } = verdict;
  if (identity === undefined) return [];
  const who = ok(`${describePerson(identity)}`);
  return identity.preferred_username === undefined ? [who, ...proposeName(trial, record)] : [who];
}

/** Proposes a field for the login name, if none is read. Not every provider has login names. */
function proposeName({ provider, describeOfProvider }: Trial, record: Item | undefined): Finding[] {
  const users = provider.access?.users ?? openidAccess.users;
  const read = ('name' in users ? users.name : undefined) ?? 'preferred_username';
  const isRead = record !== undefined && textIn(record, read) !== undefined;
  const proposed = isRead ? '' : proposePaths(record, loginNames, isNameLike);
  if (proposed === '') return [];
  const hint = `the relay reads none; set ${describeOfProvider('userName')} to where it is${proposed}`;
  return [findingsOn('login name').ok(hint)];
}

/** Claims that `readIdToken` compares. */
const ofIdToken: ReadonlySet<string> = new Set(['id_token', 'iss', 'aud', 'azp', 'exp', 'nonce']);

function adviceOnIdToken({ describe, describeOfProvider }: Trial, fields: readonly FieldFault[]): string {
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
  if (record === undefined || (answer.kind === 'values' && answer.from !== undefined)) return [];
  if (answer.kind !== 'values') {
    const setting = trial.describeOfProvider('userEmailVerified');
    return [
      warning('no address counts as verified', `set ${setting}${proposePaths(record, verifiedNames, isTrueOrFalse)}`),
    ];
  }
  const { fields, verified } = answer;
  const [field = ''] = fields;
  const missing =
    faultIn(record, field) === undefined ? undefined : warning(...adviseOnMissingAddress(trial, record, field));
  const isVerified = verified === undefined || isTrueIn(record, verified, field);
  if (isVerified) return [missing ?? ok(`is in ${field}, and counts`)];
  const unverified = warning(...adviseOnUnverifiedAddress(trial, record, verified));
  if (missing === undefined) return [unverified];
  // Without an address, nothing has to be verified, unless the record seems to say it elsewhere.
  return proposePaths(record, verifiedNames, isTrueOrFalse) === '' ? [missing] : [missing, unverified];
}

type Complaint = readonly [message: string, fix: string];

function adviseOnMissingAddress({ describeOfProvider }: Trial, record: Item, field: string): Complaint {
  const proposed = proposePaths(record, addressNames, isAddressLike);
  return [
    `there is none in ${field}`,
    `set ${describeOfProvider('userEmail')} to where it is${proposed}, or ask for it in scope`,
  ];
}

function adviseOnUnverifiedAddress({ describeOfProvider }: Trial, record: Item, verified: string): Complaint {
  const proposed = proposePaths(record, verifiedNames, isTrueOrFalse);
  const otherwise = proposed === '' ? ', or to always if the provider gives the addresses out itself' : '';
  return [
    `${verified} does not say that it is verified`,
    `set ${describeOfProvider('userEmailVerified')} to where the provider says it${proposed}${otherwise}`,
  ];
}

/** An address is no login name, because anybody may be able to set it. */
const isNameLike = (value: unknown) => typeof value === 'string' && value !== '' && !hasAtSign(value);
const isTrueOrFalse = (value: unknown) => value === false || isTrue(value);
const isAddressLike = (value: unknown) => typeof value === 'string' && readDomain(value) !== undefined;

/** Possible paths for a setting: `, such as data.id`. */
function proposePaths(
  record: Item | undefined,
  names: readonly string[],
  isWanted?: (value: unknown) => boolean,
): string {
  const paths = record ? findPathsByName(record, names, isWanted) : [];
  return paths.length === 0 ? '' : `, which may be ${paths.join(' or ')}`;
}

/** Names the fields without a usable value, never their values. */
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

/** Says whether an unread ID token could tell who the person is. @param isNeeded whether no lookup tells it */
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
    if (provider.userFrom === 'id-token') return [];
    return [notChecked(`${describeFaults(error.fields)}, and the relay does not read it`)];
  }
}

/** The claims of an ID token, of which only names are shown. @returns undefined if it cannot be read */
export function decodeClaims(idToken: string | undefined): Item | undefined {
  const [, payload] = idToken?.split('.') ?? [];
  return payload === undefined ? undefined : parseJsonObject(Buffer.from(payload, 'base64url'));
}
