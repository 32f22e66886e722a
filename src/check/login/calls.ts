import type { UpstreamClient } from '../../upstream/client.ts';
import type { UpstreamRequest, UpstreamResponse } from '../../upstream/messages.ts';
import { describeFields, type HidesText } from './fields.ts';

/** A call to the provider, and what came of it. */
export interface MadeCall {
  /** What it was for: `token endpoint`. */
  readonly purpose: string;
  readonly url: string;
  /** Undefined: there was none. */
  readonly answer: UpstreamResponse | undefined;
  /** Why there was no answer: an outcome, and the error code of the system. */
  readonly outcome: string;
  readonly error: string | undefined;
}

/** An answer of the provider, as it may be shown. */
export interface ShownAnswer {
  readonly from: string;
  /** Left out of what is no response of its own: a callback, an ID token. */
  readonly status?: number;
  /** Without its parameters. */
  readonly contentType?: string | undefined;
  readonly fields: readonly { readonly name: string; readonly type: string }[];
  /** How many further fields it has. */
  readonly more: number;
}

export type CallRecorder = ReturnType<typeof recordCalls>;

/** Makes calls as a client does, and keeps what came of them. A question that was answered is not asked again. */
export function recordCalls(client: UpstreamClient) {
  const made: MadeCall[] = [];
  const answered = new Map<string, UpstreamResponse>();
  let purpose = '';

  const call: UpstreamClient['call'] = async (request, observe) => {
    // Several rules need the same record of the same token.
    const key = request.method === 'GET' ? JSON.stringify([`${request.url}`, request.headers]) : undefined;
    const known = key && answered.get(key);
    if (known) return known;
    let outcome = '';
    let error: string | undefined;
    const keep = (answer?: UpstreamResponse) =>
      made.push({ purpose: purposeOf(request, purpose), url: `${request.url}`, answer, outcome, error });
    try {
      const answer = await client.call(request, (ended, isSent) => {
        outcome = ended.outcome;
        error = ended.error;
        observe(ended, isSent);
      });
      if (key) answered.set(key, answer);
      keep(answer);
      return answer;
    } catch (failure) {
      keep();
      throw failure;
    }
  };

  return {
    client: { ...client, call },
    /** All of them, in order. */
    made: made as readonly MadeCall[],
    /** Names the calls that follow. */
    name(next: string): void {
      purpose = next;
    },
    /** The last call of a task. */
    last: (): MadeCall | undefined => made.at(-1),
  };
}

/** Questions about memberships go elsewhere than the user lookup. */
const purposeOf = ({ endpoint }: UpstreamRequest, named: string): string => {
  if (endpoint === 'access' && named !== 'user endpoint') return 'who may log in';
  return endpoint === 'revocation' ? 'revocation' : named;
};

/** The answers that came, as they may be shown. */
export function shownAnswers(made: readonly MadeCall[], isSecret: HidesText): ShownAnswer[] {
  return made.flatMap(({ purpose, answer }) => {
    if (answer === undefined) return [];
    const { status, headers, body } = answer;
    const { fields = [], more = 0 } = describeFields(body, isSecret) ?? {};
    return [{ from: purpose, status, contentType: shownType(headers['content-type'], isSecret), fields, more }];
  });
}

/** A media type without parameters. The provider may put anything there. */
function shownType(given: string | undefined, isSecret: HidesText): string | undefined {
  if (given === undefined) return undefined;
  const [type = ''] = given.split(';');
  const isShown = /^\s*[a-z]+\/[\w.+-]{1,40}\s*$/i.test(type) && !isSecret(type);
  return isShown ? type.trim().toLowerCase() : 'unusual';
}
