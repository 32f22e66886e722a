import type { UpstreamClient } from '../../upstream/client.ts';
import type { UpstreamRequest, UpstreamResponse } from '../../upstream/messages.ts';
import { describeFields, type HidesText } from './fields.ts';

/** A call to the provider, with its outcome. */
export interface MadeCall {
  /** The question that the call asks, such as `token endpoint`. */
  readonly purpose: string;
  readonly url: string;
  readonly answer: UpstreamResponse | undefined;
  /** The outcome of the call, which says why there is no answer. */
  readonly outcome: string;
  /** The error code of Node.js, if there is one. */
  readonly error: string | undefined;
}

/** An answer of the provider as the operator sees it: names and types of fields, without values. */
export interface ShownAnswer {
  readonly from: string;
  /** Left out for a callback and an ID token, which are no responses. */
  readonly status?: number;
  readonly contentType?: string | undefined;
  readonly fields: readonly { readonly name: string; readonly type: string }[];
  readonly more: number;
}

export type CallRecorder = ReturnType<typeof recordCalls>;

/**
 * Wraps a client so that its calls are recorded. A GET that was answered is not sent again, because several access rules
 * need the same record of the same token.
 */
export function recordCalls(client: UpstreamClient) {
  const made: MadeCall[] = [];
  const answered = new Map<string, UpstreamResponse>();
  let purpose = '';

  const call: UpstreamClient['call'] = async (request, observe) => {
    const key = request.method === 'GET' ? JSON.stringify([`${request.url}`, request.headers]) : undefined;
    const known = key && answered.get(key);
    if (known) return known;
    let outcome = '';
    let error: string | undefined;
    const record = (answer?: UpstreamResponse) =>
      made.push({ purpose: purposeOf(request, purpose), url: `${request.url}`, answer, outcome, error });
    try {
      const answer = await client.call(request, (ended, isSent) => {
        outcome = ended.outcome;
        error = ended.error;
        observe(ended, isSent);
      });
      if (key) answered.set(key, answer);
      record(answer);
      return answer;
    } catch (failure) {
      record();
      throw failure;
    }
  };

  return {
    client: { ...client, call },
    made: made as readonly MadeCall[],
    /** Sets the purpose of all further calls. */
    setPurpose(next: string): void {
      purpose = next;
    },
    last: (): MadeCall | undefined => made.at(-1),
  };
}

/**
 * The purpose of a call. Its endpoint says more than the current purpose if it revokes, or asks about access (`access`).
 * But while the check asks who the person is (`user endpoint`), such a call belongs to that question.
 */
const purposeOf = ({ endpoint }: UpstreamRequest, current: string): string => {
  if (endpoint === 'access' && current !== 'user endpoint') return 'who may log in';
  return endpoint === 'revocation' ? 'revocation' : current;
};

/** Describes the answers to recorded calls by the names and types of their fields. */
export function describeAnswers(made: readonly MadeCall[], isSecret: HidesText): ShownAnswer[] {
  return made.flatMap(({ purpose, answer }) => {
    if (answer === undefined) return [];
    const { status, headers, body } = answer;
    const { fields = [], more = 0 } = describeFields(body, isSecret) ?? {};
    return [{ from: purpose, status, contentType: toSafeMediaType(headers['content-type'], isSecret), fields, more }];
  });
}

/** Returns a media type without its parameters, which may contain anything; `unusual` if the type itself may be unsafe. */
function toSafeMediaType(contentType: string | undefined, isSecret: HidesText): string | undefined {
  if (contentType === undefined) return undefined;
  const [type = ''] = contentType.split(';');
  const isShown = /^\s*[a-z]+\/[\w.+-]{1,40}\s*$/i.test(type) && !isSecret(type);
  return isShown ? type.trim().toLowerCase() : 'unusual';
}
