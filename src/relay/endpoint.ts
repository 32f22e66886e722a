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
  /** By default, the first front end answers failures. */
  readonly failures?: Handler;
  /** Refuses requests before they are counted. */
  readonly guards?: readonly Handler[];
  readonly isLimited: boolean;
  readonly handle: Handler;
}

export interface EndpointContext {
  /** Warns about requests of pages that belong to no front end. */
  readonly watchOrigins: (readers: Readers) => Handler;
  readonly rateLimits: readonly Handler[];
}

/** Composes the decisions of an endpoint once for all requests. */
export function createHandler(endpoint: Endpoint, { watchOrigins, rateLimits }: EndpointContext): Handler {
  const { action, readers, failures, guards = [], isLimited, isFrequent, handle } = endpoint;
  const route = endpoint.action && (endpoint.route ?? endpoint.path);
  const name: Handler = ({ state }: Context, next) => {
    state.action = action;
    state.route = route;
    return next();
  };
  const steps: (Handler | undefined)[] = [
    name,
    ...(isFrequent ? [] : [watchOrigins(readers), cors(readers)]),
    failures,
    endpoint.methods && allowMethods(...endpoint.methods),
    ...guards,
    ...(isLimited ? rateLimits : []),
    handle,
  ];
  return inOrder(...steps.filter((step) => step !== undefined));
}
