import { concernsLogin, describeEffect, hasFailed, onToProvider } from '../observability/request-effect.ts';
import type { RequestRecord } from '../observability/request-log.ts';
import type { UpstreamCall } from '../upstream/messages.ts';

/** The response to a page that shows the steps. */
interface Follower {
  write(text: string): unknown;
  once(event: 'close', listener: () => void): unknown;
}

const maxSteps = 30;

export type Steps = ReturnType<typeof createSteps>;

/** Creates a list of the latest requests to the relay, which the pages of the demo show as they happen. */
export function createSteps() {
  let steps: ReturnType<typeof describeStep>[] = [];
  /** The front end of the last login. A user lookup belongs to it, because its record names no front end. */
  let frontEnd: string | undefined;
  const followers = new Set<Follower>();
  const send = (to: Follower) => to.write(`data: ${JSON.stringify(steps)}\n\n`);
  return {
    /** Adds a request to the steps. The start of a login, or a registration, clears them first. */
    observe(record: RequestRecord): void {
      if (!isShown(record)) return;
      if (beginsLogin(record)) {
        steps = [];
        frontEnd = undefined;
      }
      frontEnd = record.frontEnd ?? frontEnd;
      // The demo's resource has the name of its front end.
      const step = describeStep(record, record.resource ?? frontEnd);
      steps = [...steps, step].slice(-maxSteps);
      for (const follower of followers) send(follower);
    },
    /** Sends the steps and each change of them, as server-sent events. */
    follow(response: Follower): void {
      followers.add(response);
      response.once('close', () => followers.delete(response));
      send(response);
    },
  };
}

/** Whether a request is a step of a login, and not a preflight, script or probe. */
function isShown({ method, action }: RequestRecord): boolean {
  return method !== 'OPTIONS' && (concernsLogin(action) || action === 'user' || action === 'check');
}

/** Whether a request begins a login: it redirects to the provider, or registers a client, which then starts a login. */
function beginsLogin(record: RequestRecord): boolean {
  const isStart = record.method === 'GET' && describeEffect(record) === onToProvider;
  return isStart || record.action === 'register';
}

/** Describes a request as the demo's pages show it. Like the record, the description contains no secret. */
function describeStep(record: RequestRecord, frontEnd: string | undefined) {
  const { method, route, status, provider } = record;
  return {
    request: `${method} ${(route ?? '').replace(':frontEnd', frontEnd ?? ':frontEnd')}`,
    status,
    effect: describeEffect(record) ?? 'done',
    call: provider && describeCall(provider),
    frontEnd,
    failed: hasFailed(record),
  };
}

function describeCall({ endpoint, status, outcome }: UpstreamCall): string {
  return `provider’s ${endpoint} endpoint: ${status ?? outcome}`;
}
