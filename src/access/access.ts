import type { Clock } from '../clock.ts';
import { type FieldFault, isFailure, RelayError, refusalsAtProvider } from '../failures/relay-error.ts';
import { createJoint, type Home } from '../memory/home.ts';
import { createRecent, hashKey } from '../memory/recent.ts';
import { isCredential } from '../oauth/authorization-header.ts';
import type { AccessAnswers, Provider } from '../providers/provider.ts';
import type { ObserveCall } from '../upstream/messages.ts';
import type { ProviderEndpoints } from '../upstream/provider-endpoints.ts';
import { hasAtSign, isAddress } from './addresses.ts';
import type { Allow } from './allow.ts';
import { type Ask, askIfAllowed } from './answers.ts';
import { type Item, textIn } from './fields.ts';
import { expectSubject, readIdToken } from './id-token.ts';
import { askForIdentity, type Identity, type IdentityQuestion } from './identity.ts';

/** Milliseconds for which an answer is kept. */
const answerTime = 60_000;
const most = 4096;

interface Verdict {
  /** The index of the `allow` that refuses the person. Undefined if all match. */
  readonly refusedBy: number | undefined;
  /** The name of the account, to be shown to the person. */
  readonly person: string | undefined;
  /** Undefined if the identity was not asked for, or the person is refused. */
  readonly identity: Identity | undefined;
  /** The fields that the refusing rules read. Undefined if they read none. */
  readonly fields?: readonly FieldFault[] | undefined;
}

export interface Evidence {
  readonly accessToken: string;
  readonly idToken?: string | undefined;
  /** Undefined at a refresh. */
  readonly login?: { readonly nonce: string | undefined } | undefined;
  /** The `hashSubject` of the person who logged in. Undefined if it is not known. */
  readonly subjectId?: string | undefined;
}

/** What a process remembers of the answers. It survives a reload of the configuration. */
export type AccessMemory = ReturnType<typeof createAccessMemory>;

export function createAccessMemory({ now }: Home) {
  return {
    verdicts: createRecent<Verdict>(answerTime, most, now),
    join: createJoint<Verdict>(),
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

/** Says who may log in at one registration, and who they are. */
export function createAccess({ verdicts, join }: AccessMemory, endpoints: Endpoints, by: AccessSettings) {
  const askProvider = createQuestions(endpoints, by);
  const { userFrom, userUrl, access } = by.provider;
  // A reload may have the relay read another field, and the answer of the earlier one may be somebody else.
  const source = JSON.stringify([userUrl, userFrom, access]);
  return {
    /**
     * Decides whether the person behind these tokens may log in, and who the person is. The answer is kept for a
     * minute.
     *
     * @param allows all of them must match; undefined ones always do
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
      // At a user endpoint, a login and a refresh with the same access token get the same answer.
      const proof = userFrom === 'id-token' ? JSON.stringify([idToken, login, subjectId]) : '';
      const key = hashKey(by.audience, source, accessToken, proof, rules);
      const known = verdicts.get(key);
      if (known !== undefined) return known;
      return await join(key, async () => {
        const found = await askProvider(evidence, allows, question, observe).catch(failUnchecked);
        // Only after a call, so that a repeated answer is not kept for longer.
        verdicts.set(key, found);
        return found;
      });
    },
  };
}

/** Asks the provider who a person is, and whether the person may log in. Remembers nothing. */
function createQuestions({ lookUpUser, askAccess }: Endpoints, by: AccessSettings) {
  /** What the provider says of the person: in the ID token, or at its user endpoint. */
  async function findRecord(
    { accessToken, idToken, login, subjectId }: Evidence,
    observe: ObserveCall,
    signal: AbortSignal,
  ): Promise<Item> {
    const { userFrom, userUrl, issuer } = by.provider;
    // Not every provider repeats the ID token at a refresh.
    const isRepeated = idToken !== undefined || login !== undefined || userUrl === undefined;
    if (userFrom === 'id-token' && isRepeated) {
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
    const record = await findRecord(evidence, observe, signal);
    const { access } = by.provider;
    const person = loginNameOf(record, access);
    const notes = allows.map(() => createNotes());
    const matches = await Promise.allSettled(
      allows.map((allow, index) => !allow || askIfAllowed(allow, access, record, ask, notes[index]?.add)),
    );
    // If one `allow` refuses, the person is refused, even if another one could not be asked.
    const refusedBy = matches.findIndex((one) => one.status === 'fulfilled' && !one.value);
    if (refusedBy !== -1) {
      return { refusedBy, person, identity: undefined, fields: notes[refusedBy]?.all() };
    }
    for (const one of matches) if (one.status === 'rejected') throw one.reason;
    const identity = question && (await askForIdentity(question, access, record, ask));
    return { refusedBy: undefined, person, identity };
  };
}

/** Throws the failure of a question as the answer to a login or a refresh. */
function failUnchecked(error: unknown): never {
  const isAsItIs = isFailure(error, 'token_invalid', 'identity_unknown', ...refusalsAtProvider);
  if (!(error instanceof RelayError) || isAsItIs) throw error;
  if (isFailure(error, 'provider_timeout', 'client_gone')) {
    throw new RelayError('access_unchecked', { status: 504 });
  }
  const isPostponed = isFailure(error, 'overloaded', 'lookup_postponed');
  const { headers } = error;
  throw new RelayError('access_unchecked', isPostponed ? { status: 503, headers } : {});
}

const nameFields = ['login', 'username', 'preferred_username', 'email', 'name', 'sub', 'id'];
const longestName = 100;

function loginNameOf(record: Item, access: AccessAnswers | undefined): string | undefined {
  const { users } = access ?? {};
  const own = users?.kind === 'values' && users.from === undefined ? (users.name ?? []) : [];
  const names = [own, nameFields].flat().map((field) => textIn(record, field));
  // An ambiguous address is not shown, because it could pass for another one.
  const isShown = (text: string) => !hasAtSign(text) || isAddress(text);
  const name = names.find((one) => one !== undefined && isShown(one))?.replaceAll(/\p{C}/gu, '');
  return name && [...name].slice(0, longestName).join('');
}

/** The most fields that the log names for one refusal. */
const mostNotes = 8;

/** Collects why a person is refused, each reason once. */
function createNotes() {
  const notes = new Map<string, FieldFault>();
  return {
    add(fault: FieldFault): void {
      if (notes.size < mostNotes) notes.set(`${fault.reason} ${fault.field}`, fault);
    },
    all: (): readonly FieldFault[] | undefined => (notes.size > 0 ? [...notes.values()] : undefined),
  };
}
