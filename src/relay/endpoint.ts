import type { Action, Context, Handler } from '../http/context.ts';
import { inOrder } from '../http/context.ts';
import { cors, type Readers } from '../http/cors.ts';
import { allowMethods } from '../http/request-guards.ts';

/** An address of the relay, with everything that is decided before its handler runs. */
export interface Endpoint {
  readonly path: string;
  /** Whether it includes every path below. Endpoints with an exact path come first. */
  readonly includesBelow?: true;
  /**
   * Whether it is answered before warnings, CORS and the router, which only pages and misconfigured proxies need. A
   * reverse proxy asks there before each request to a resource.
   */
  readonly isFrequent?: true;
  /** The route in the log and in metrics (default: the path). */
  readonly route?: string;
  /** The purpose of its requests. Undefined if nothing is there. */
  readonly action: Action | undefined;
  /** The methods that it accepts, which OPTIONS lists. Without a list, the handler decides. */
  readonly methods?: readonly string[];
  readonly readers: Readers;
  /** Answers failures of the following steps. By default, the first front end does. */
  readonly failures?: Handler;
  /** Handlers that may refuse requests before the rate limit counts them. */
  readonly guards?: readonly Handler[];
  /** Whether the rate limit counts its requests. */
  readonly isLimited: boolean;
  readonly handle: Handler;
}

/** The warnings and limits that the endpoints of a relay share. */
export interface EndpointContext {
  /** Creates a handler that warns about requests of pages that belong to no front end. */
  readonly createOriginWarning: (readers: Readers) => Handler;
  readonly rateLimits: readonly Handler[];
}

/** Creates the handler of an endpoint, which makes its decisions in order. */
export function createHandler(endpoint: Endpoint, { createOriginWarning, rateLimits }: EndpointContext): Handler {
  const { action, readers, failures, guards = [], isLimited, isFrequent, handle } = endpoint;
  const route = endpoint.action && (endpoint.route ?? endpoint.path);
  const recordEndpoint: Handler = ({ state }: Context, next) => {
    state.action = action;
    state.route = route;
    return next();
  };
  const steps: (Handler | undefined)[] = [
    recordEndpoint,
    ...(isFrequent ? [] : [createOriginWarning(readers), cors(readers)]),
    failures,
    endpoint.methods && allowMethods(...endpoint.methods),
    ...guards,
    ...(isLimited ? rateLimits : []),
    handle,
  ];
  return inOrder(...steps.filter((step) => step !== undefined));
}
