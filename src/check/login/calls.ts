import type { UpstreamClient } from '../../upstream/client.ts';
import type { UpstreamRequest, UpstreamResponse } from '../../upstream/messages.ts';
import { describeFields, type HidesText } from './fields.ts';

/** A call to the provider, with its outcome. */
export interface MadeCall {
  /** Such as `token endpoint`. */
  readonly purpose: string;
  readonly url: string;
  readonly answer: UpstreamResponse | undefined;
  /** Why there was no answer: an outcome, and the error code of the system. */
  readonly outcome: string;
  readonly error: string | undefined;
}

export interface ShownAnswer {
  readonly from: string;
  /** Left out for a callback and an ID token, which are no responses. */
  readonly status?: number;
  readonly contentType?: string | undefined;
  readonly fields: readonly { readonly name: string; readonly type: string }[];
  readonly more: number;
}

export type CallRecorder = ReturnType<typeof recordCalls>;

/** Makes calls as a client does, and records them. A question that was answered is not asked again. */
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
    made: made as readonly MadeCall[],
    name(next: string): void {
      purpose = next;
    },
    last: (): MadeCall | undefined => made.at(-1),
  };
}

/** Questions about memberships go to other endpoints than the user lookup. */
const purposeOf = ({ endpoint }: UpstreamRequest, named: string): string => {
  if (endpoint === 'access' && named !== 'user endpoint') return 'who may log in';
  return endpoint === 'revocation' ? 'revocation' : named;
};

export function describeAnswers(made: readonly MadeCall[], isSecret: HidesText): ShownAnswer[] {
  return made.flatMap(({ purpose, answer }) => {
    if (answer === undefined) return [];
    const { status, headers, body } = answer;
    const { fields = [], more = 0 } = describeFields(body, isSecret) ?? {};
    return [{ from: purpose, status, contentType: toSafeMediaType(headers['content-type'], isSecret), fields, more }];
  });
}

/** A media type without parameters, which may contain anything. */
function toSafeMediaType(given: string | undefined, isSecret: HidesText): string | undefined {
  if (given === undefined) return undefined;
  const [type = ''] = given.split(';');
  const isShown = /^\s*[a-z]+\/[\w.+-]{1,40}\s*$/i.test(type) && !isSecret(type);
  return isShown ? type.trim().toLowerCase() : 'unusual';
}
