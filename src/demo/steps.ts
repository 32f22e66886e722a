import { effectOf, hasFailed, onToProvider } from '../observability/request-effect.ts';
import type { RequestRecord } from '../observability/request-log.ts';
import type { UpstreamCall } from '../upstream/messages.ts';

type Step = ReturnType<typeof stepOf>;

/** The response to a page that shows the steps. */
interface Follower {
  write(text: string): unknown;
  once(event: 'close', listener: () => void): unknown;
}

const maxSteps = 30;

/** The requests since the last login was started, for the pages that show them. */
export class Steps {
  #steps: Step[] = [];
  /** The front end of the last login. Lookups and the like do not say whose they are. */
  #frontEnd: string | undefined;
  readonly #followers = new Set<Follower>();

  /** Takes note of a request to the relay. */
  readonly observe = (record: RequestRecord): void => {
    if (!isShown(record)) return;
    if (beginsLogin(record)) {
      this.#frontEnd = undefined;
      this.#steps = [];
    }
    this.#frontEnd = record.frontEnd ?? this.#frontEnd;
    this.#steps = [...this.#steps, stepOf(record, this.#frontEnd)].slice(-maxSteps);
    for (const follower of this.#followers) this.#send(follower);
  };

  /** Sends the steps, and each change of them, as server-sent events. */
  follow(response: Follower): void {
    this.#followers.add(response);
    response.once('close', () => this.#followers.delete(response));
    this.#send(response);
  }

  #send(response: Follower): void {
    response.write(`data: ${JSON.stringify(this.#steps)}\n\n`);
  }
}

/** Preflights, scripts and probes are no steps of a login. */
function isShown({ method, route }: RequestRecord): boolean {
  return method !== 'OPTIONS' && route !== null && /^\/(auth|api)\b/.test(route);
}

/** A client that nobody registered registers itself first. A person may be asked then, so the start is no end. */
function beginsLogin(record: RequestRecord): boolean {
  const isStart = record.method === 'GET' && effectOf(record) === onToProvider;
  return isStart || record.route?.endsWith('/register') === true;
}

/** A request as the demo's pages show it. Like the record, it holds no secret. */
function stepOf(record: RequestRecord, lastFrontEnd: string | undefined) {
  const { method, route, status, provider, frontEnd = lastFrontEnd } = record;
  return {
    request: `${method} ${route?.replace(':frontEnd', frontEnd ?? ':frontEnd')}`,
    status,
    /** What it led to. */
    effect: effectOf(record) ?? 'done',
    /** The relay's call to the provider. */
    call: provider && callOf(provider),
    frontEnd,
    failed: hasFailed(record),
  };
}

function callOf({ endpoint, status, outcome }: UpstreamCall): string {
  return `provider’s ${endpoint} endpoint: ${status ?? outcome}`;
}
