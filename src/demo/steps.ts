import type { ServerResponse } from 'node:http';
import { RelayError } from '../errors.ts';
import { effectOf } from '../observability/request-effect.ts';
import type { RequestRecord } from '../observability/request-record.ts';

/** A request to the relay, as the demo's pages show it. Like the record, it holds no secret. */
interface Step {
  /** Method and path. */
  readonly request: string;
  readonly status: number;
  /** What it led to. */
  readonly effect: string;
  /** The relay's call to the provider. */
  readonly call: string | undefined;
  readonly frontEnd: string | undefined;
  readonly failed: boolean;
}

const mostSteps = 30;

/** The requests since the last login was started, for the pages that show them. */
export class Steps {
  #steps: Step[] = [];
  readonly #followers = new Set<ServerResponse>();

  /** Takes note of a request to the relay. */
  readonly observe = (record: RequestRecord): void => {
    if (!isShown(record)) return;
    const isStart = record.route !== null && /^\/auth\/[^/]+(\/:frontEnd)?$/.test(record.route);
    const before = isStart && record.status === 307 ? [] : this.#steps;
    this.#steps = [...before, stepOf(record)].slice(-mostSteps);
    for (const follower of this.#followers) this.#send(follower);
  };

  /** Sends the steps, and each change of them, as server-sent events. */
  follow(response: ServerResponse): void {
    this.#followers.add(response);
    response.once('close', () => this.#followers.delete(response));
    this.#send(response);
  }

  #send(response: ServerResponse): void {
    response.write(`data: ${JSON.stringify(this.#steps)}\n\n`);
  }
}

/** Preflights, scripts and probes are no steps of a login. */
function isShown({ method, route }: RequestRecord): boolean {
  return method !== 'OPTIONS' && route !== null && /^\/(auth|api)\b/.test(route);
}

function stepOf(record: RequestRecord): Step {
  const { method, route, status, outcome, provider, frontEnd } = record;
  return {
    request: `${method} ${route}`,
    status,
    effect: outcome === 'ok' ? (effectOf(record) ?? 'done') : new RelayError(outcome).detail,
    call:
      provider &&
      `provider’s ${provider.endpoint} endpoint: ${provider.status ?? provider.outcome}`,
    frontEnd,
    failed: outcome !== 'ok',
  };
}
