import * as v from 'valibot';
import { type FieldFault, RelayError } from '../failures/relay-error.ts';
import { openidAccess } from '../providers/identity-servers.ts';
import type { AccessAnswer, AccessAnswers, ValueSource } from '../providers/provider.ts';
import { hasAtSign, isAddress } from './addresses.ts';
import { type Allow, answerTo, scopesOf } from './allow.ts';
import { type Ask, askForValues } from './ask-for-values.ts';
import { faultIn, type Item, joinedTextIn, textIn } from './fields.ts';

/** The facts that a resource may learn about a person, besides the id and the login name. */
export const claims = ['email', 'groups'] as const;

export type Claim = (typeof claims)[number];

/** A person, by the names of OpenID Connect. @see OpenID Connect Core 1.0 §5.1 */
export const identitySchema = v.object({
  /** The id at the provider, as in `allow: users`. */
  sub: v.string(),
  /** The login name. It may change, and is never an address. */
  preferred_username: v.optional(v.string()),
  email: v.optional(v.pipe(v.string(), v.check(isAddress))),
  groups: v.optional(v.array(v.string())),
});

export type Identity = Readonly<v.InferOutput<typeof identitySchema>>;

/** Whether an id is one of a machine. No person may have it, even where people can choose their id at the provider. */
export const isMachineId = (id: string): boolean => /^machine:/i.test(id);

/** The identity of a machine. It has no address and no groups. */
export const machineIdentity = (name: string): Identity => ({ sub: `machine:${name}`, preferred_username: name });

/** The question who a person is, as a resource asks it. */
export interface IdentityQuestion extends Pick<Allow, 'groupsClaim'> {
  readonly claims: readonly Claim[];
}

/**
 * How a provider can be asked for a claim, or why it cannot. Groups are the groups of `allow: groups`. At a provider
 * with teams, they are its teams, as `organization/team`.
 */
export function answerToClaim(
  claim: Claim,
  claimNames: Pick<Allow, 'groupsClaim'>,
  access: AccessAnswers = openidAccess,
): AccessAnswer {
  if (claim === 'email') return answerTo('emails', claimNames, access);
  const { teams } = access;
  if (teams?.kind === 'values') return teams;
  if (teams?.kind !== 'membership' || teams.list === undefined) {
    return answerTo('groups', claimNames, access);
  }
  const { scope } = teams;
  return scope === undefined ? teams.list : { ...teams.list, scope };
}

/** The scopes that the questions of an identity need, each as a list of alternatives. */
export function scopesOfIdentity(
  { claims: asked, groupsClaim }: IdentityQuestion,
  access: AccessAnswers | undefined,
): string[][] {
  return scopesOf(asked.map((claim) => answerToClaim(claim, { groupsClaim }, access)));
}

/**
 * Reads who a person is, and asks the provider for what the record does not say.
 *
 * @param record the user record
 * @throws {RelayError} `identity_unknown` if the record has no id, or why an answer is missing
 */
export async function askForIdentity(
  { claims: asked, groupsClaim }: IdentityQuestion,
  access: AccessAnswers = openidAccess,
  record: Item,
  ask: Ask,
): Promise<Identity> {
  const users = requireValueSource(access.users ?? openidAccess.users);
  const askForClaim = async (claim: Claim) => {
    if (!asked.includes(claim)) return undefined;
    const source = requireValueSource(answerToClaim(claim, { groupsClaim }, access));
    return await askForValues(source, record, ask, claim === 'groups');
  };
  const [sub, emails, groups] = await Promise.all([
    askForId(users, record, ask),
    askForClaim('email'),
    askForClaim('groups'),
  ]);
  return {
    sub,
    preferred_username: loginNameIn(record, users),
    email: emails?.find(isAddress),
    groups,
  };
}

/** The id of a person, as far as the record says it without a question. */
export function idIn(record: Item, access: AccessAnswers = openidAccess): string | undefined {
  const users: AccessAnswer = access.users ?? openidAccess.users;
  if (users.kind !== 'values' || users.from !== undefined) return undefined;
  const id = joinedTextIn(record, users.fields);
  return id !== undefined && mayBePersons(id) ? id : undefined;
}

const mayBePersons = (id: string) => id.isWellFormed() && !isMachineId(id);

/** Reads the id of a person. @throws {RelayError} `identity_unknown` if it is missing, or has the form of a machine's id */
async function askForId(users: ValueSource, record: Item, ask: Ask): Promise<string> {
  const [id] =
    users.from === undefined ? [joinedTextIn(record, users.fields)] : await askForValues(users, record, ask, false);
  if (id !== undefined && mayBePersons(id)) return id;
  throw unknownIdentity(users.fields.map((field) => ({ field, reason: faultIn(record, field) ?? 'shape' })));
}

/** The failure of a person without an id. It names the fields, never a value. */
export function unknownIdentity(fields: readonly FieldFault[]): RelayError {
  const faults = fields.map(({ field, reason }) => `${field} ${faultTexts[reason]}`).join(', and ');
  const detail = `The provider does not say who the person is: ${faults}. Only the operator can fix this.`;
  return new RelayError('identity_unknown', { detail, fields });
}

const faultTexts: Readonly<Record<FieldFault['reason'], string>> = {
  missing: 'is missing',
  shape: 'has another shape than expected',
  unverified: 'is not verified',
  mismatch: 'does not fit',
  expired: 'is over',
};

/**
 * The login name in a record. An address does not count as a login name, because at Entra anybody in the tenant can
 * enter any address there.
 */
function loginNameIn(record: Item, { name }: ValueSource): string | undefined {
  const found = textIn(record, name ?? 'preferred_username');
  return found !== undefined && hasAtSign(found) ? undefined : found;
}

/** @throws {RelayError} `lookup_failed` if the provider cannot answer with values */
function requireValueSource(answer: AccessAnswer): ValueSource {
  if (answer.kind === 'values') return answer;
  throw new RelayError('lookup_failed');
}
