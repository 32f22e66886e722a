import type { Clock } from '../clock.ts';
import { type FieldFault, isFailure, RelayError, refusalsAtProvider } from '../failures/relay-error.ts';
import { createExpiringSecrets, hashKey } from '../memory/expiring-map.ts';
import type { Home } from '../memory/home.ts';
import { createJointWork } from '../memory/joint-work.ts';
import { isCredential } from '../oauth/authorization-header.ts';
import type { AccessAnswers, Provider } from '../providers/provider.ts';
import type { ObserveCall } from '../upstream/messages.ts';
import type { ProviderEndpoints } from '../upstream/provider-endpoints.ts';
import { hasAtSign, isAddress } from './addresses.ts';
import type { Allow } from './allow.ts';
import type { Ask } from './ask-for-values.ts';
import { askIfAllowed } from './ask-if-allowed.ts';
import { type Item, textIn } from './fields.ts';
import { expectSubject, readIdToken } from './id-token.ts';
import { askForIdentity, type Identity, type IdentityQuestion, idIn } from './identity.ts';

/** Milliseconds for which a verdict is kept. */
const verdictTime = 60_000;
const mostVerdicts = 4096;

interface Verdict {
  /** The index, in the list from `allowsOf`, of the first `allow` that refuses the person. Undefined if all match. */
  readonly refusedBy: number | undefined;
  /** The name of the account, to be shown to the person. */
  readonly person: string | undefined;
  /** The id of a refused person, for the log. Undefined if the record alone does not say it. */
  readonly refusedId?: string | undefined;
  /** Undefined if the identity was not asked for, or the person is refused. */
  readonly identity: Identity | undefined;
  /** The fields that the refusing rules read, each with the reason why it does not match. Undefined if they read none. */
  readonly fields?: readonly FieldFault[] | undefined;
}

/** The tokens of a person, and what the relay already knows of their login. */
export interface Evidence {
  readonly accessToken: string;
  readonly idToken?: string | undefined;
  /**
   * The login that asks who the person is. An ID token must repeat its nonce, so a login without a nonce accepts no ID
   * token. Undefined at a refresh, whose ID token need not repeat a nonce.
   */
  readonly login?: { readonly nonce: string | undefined } | undefined;
  /** The `hashSubject` of the person who logged in. Undefined if it is not known. */
  readonly subjectId?: string | undefined;
}

/** The memory of a process for verdicts. It survives a reload of the configuration. */
export type AccessMemory = ReturnType<typeof createAccessMemory>;

export function createAccessMemory({ now }: Home) {
  return {
    verdicts: createExpiringSecrets<Verdict>(verdictTime, mostVerdicts, now),
    join: createJointWork<Verdict>(),
  };
}

type Endpoints = Pick<ProviderEndpoints, 'lookUpUser' | 'askAccess'>;

interface AccessSettings {
  readonly provider: Provider;
  readonly clientId: string;
  readonly audience: string;
  readonly now: Clock;
  /** Milliseconds that all questions about one person may take together. */
  readonly timeout: number;
}

/** Decides who may log in at one registration, and says who they are. */
export function createAccess({ verdicts, join }: AccessMemory, endpoints: Endpoints, by: AccessSettings) {
  const askProvider = createAskProvider(endpoints, by);
  const { userFrom, userUrl, access } = by.provider;
  // Part of the key, because a reload may change which field identifies a person. An earlier verdict may be about
  // somebody else.
  const source = JSON.stringify([userUrl, userFrom, access]);
  return {
    /**
     * Decides whether the person of these tokens may log in, and says who it is. The verdict is kept for a minute.
     *
     * @param allows all of them must match. An undefined `allow` matches everybody
     * @param question undefined if the identity does not matter
     * @param observe called with each call to the provider
     * @throws {RelayError} `access_unchecked` if the provider did not say; `identity_unknown` if its answer has no id;
     *   `token_invalid`; one of `refusalsAtProvider`
     */
    async judge(
      evidence: Evidence,
      allows: readonly (Allow | undefined)[],
      question: IdentityQuestion | undefined,
      observe: ObserveCall,
    ): Promise<Verdict> {
      const rules = JSON.stringify([allows, question]);
      const { accessToken, idToken, login, subjectId } = evidence;
      // A user endpoint gives the same answer for an access token, whatever the relay knows of its login.
      const proof = userFrom === 'id-token' ? JSON.stringify([idToken, login, subjectId]) : '';
      const key = hashKey(by.audience, source, accessToken, proof, rules);
      const known = verdicts.get(key);
      if (known !== undefined) return known;
      // Requests at the same time share the question.
      return await join(key, async () => {
        const found = await askProvider(evidence, allows, question, observe).catch(failUnchecked);
        verdicts.set(key, found);
        return found;
      });
    },
  };
}

/** Creates the function that asks the provider for a verdict. It remembers nothing. */
function createAskProvider({ lookUpUser, askAccess }: Endpoints, by: AccessSettings) {
  /** Reads the record of the person from the ID token or from the user endpoint. */
  async function readRecord(
    { accessToken, idToken, login, subjectId }: Evidence,
    observe: ObserveCall,
    signal: AbortSignal,
  ): Promise<Item> {
    const { userFrom, userUrl, issuer } = by.provider;
    const isRefresh = login === undefined;
    // Some providers send no ID token at a refresh. Then the user endpoint is asked, and has to name the same person.
    const asksEndpointInstead = isRefresh && idToken === undefined && userUrl !== undefined;
    if (userFrom === 'id-token' && !asksEndpointInstead) {
      const nonce = login && { value: login.nonce };
      return readIdToken(idToken, { issuer, clientId: by.clientId, nonce, subjectId, now: by.now() });
    }
    const { record } = await lookUpUser(accessToken, observe, signal, 'access');
    if (userFrom === 'id-token') expectSubject(record['sub'], subjectId);
    return record;
  }

  return async (
    evidence: Evidence,
    allows: readonly (Allow | undefined)[],
    question: IdentityQuestion | undefined,
    observe: ObserveCall,
  ): Promise<Verdict> => {
    const { accessToken } = evidence;
    if (!isCredential(accessToken)) throw new RelayError('lookup_failed');
    const signal = AbortSignal.timeout(by.timeout);
    // Several rules may need the same path.
    const asked = new Map<string, ReturnType<Ask>>();
    const ask: Ask = (path) => {
      const answer = asked.get(path) ?? askAccess(accessToken, path, observe, signal);
      asked.set(path, answer);
      return answer;
    };
    const record = await readRecord(evidence, observe, signal);
    const { access } = by.provider;
    const person = accountNameIn(record, access);
    const refusal = await findRefusal(allows, access, record, ask);
    if (refusal !== undefined) return { ...refusal, person, refusedId: idIn(record, access), identity: undefined };
    const identity = question && (await askForIdentity(question, access, record, ask));
    return { refusedBy: undefined, person, identity };
  };
}

/**
 * Asks about each `allow` at once. A refusal counts even if another `allow` could not be asked.
 *
 * @returns the first `allow` that refuses the person; undefined if all match
 * @throws {RelayError} if none refuses, and one could not be asked
 */
async function findRefusal(
  allows: readonly (Allow | undefined)[],
  access: AccessAnswers | undefined,
  record: Item,
  ask: Ask,
): Promise<Pick<Verdict, 'refusedBy' | 'fields'> | undefined> {
  const faults = allows.map(() => createFaults());
  const matches = await Promise.allSettled(
    allows.map((allow, index) => !allow || askIfAllowed(allow, access, record, ask, faults[index]?.note)),
  );
  const refusedBy = matches.findIndex((match) => match.status === 'fulfilled' && !match.value);
  if (refusedBy !== -1) return { refusedBy, fields: faults[refusedBy]?.all() };
  for (const match of matches) {
    if (match.status === 'rejected') throw match.reason;
  }
  return undefined;
}

/**
 * Turns the failure of a question into `access_unchecked`, unless it says what is wrong with the person or the token.
 */
function failUnchecked(error: unknown): never {
  const saysWhy = isFailure(error, 'token_invalid', 'identity_unknown', ...refusalsAtProvider);
  if (!(error instanceof RelayError) || saysWhy) throw error;
  if (isFailure(error, 'provider_timeout', 'client_gone')) {
    throw new RelayError('access_unchecked', { status: 504 });
  }
  const isPostponed = isFailure(error, 'overloaded', 'lookup_postponed');
  // Keep Retry-After, which may come from the provider.
  const { headers } = error;
  throw new RelayError('access_unchecked', isPostponed ? { status: 503, headers } : {});
}

const nameFields = ['login', 'username', 'preferred_username', 'email', 'name', 'sub', 'id'];
const longestName = 100;

/** The name of a person's account, to be shown to the person. Undefined if the record has none. */
function accountNameIn(record: Item, access: AccessAnswers | undefined): string | undefined {
  const { users } = access ?? {};
  // With `from`, the field is in another answer, and not in this record.
  const ownField = users?.kind === 'values' && users.from === undefined ? users.name : undefined;
  const fields = ownField === undefined ? nameFields : [ownField, ...nameFields];
  // An ambiguous address is not shown, because it could pass for another address.
  const mayBeShown = (text: string) => !hasAtSign(text) || isAddress(text);
  const found = fields.map((field) => textIn(record, field)).find((text) => text !== undefined && mayBeShown(text));
  const visible = found?.replaceAll(/\p{C}/gu, '');
  return visible && [...visible].slice(0, longestName).join('');
}

/** The most fields that the log names for one refusal. */
const mostFaults = 8;

/** Collects why a person is refused, each reason once. */
function createFaults() {
  const faults = new Map<string, FieldFault>();
  return {
    note(fault: FieldFault): void {
      if (faults.size < mostFaults) faults.set(`${fault.reason} ${fault.field}`, fault);
    },
    all: (): readonly FieldFault[] | undefined => (faults.size > 0 ? [...faults.values()] : undefined),
  };
}
