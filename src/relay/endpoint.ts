import type { Action, Context, Handler } from '../http/context.ts';
import { inOrder } from '../http/context.ts';
import { cors, type Readers } from '../http/cors.ts';
import { allowMethods } from '../http/request-guards.ts';

/** An address of the relay, with everything that is decided about a request before its handler runs. */
export interface Endpoint {
  /** The exact path, as the public address has it below the base URL. */
  readonly path: string;
  /** Whether it also stands for every path below. Endpoints with an exact path come first. */
  readonly includesBelow?: true;
  /**
   * Whether it is answered before everything that only pages and misconfigured proxies need: warnings, CORS, the router. A
   * reverse proxy asks there before each request to a resource.
   */
  readonly isFrequent?: true;
  /** The name of the route in the log and in metrics (default: the path). */
  readonly route?: string;
  /** What its requests are for. Undefined if nothing is there. */
  readonly action: Action | undefined;
  /** The methods that it takes; OPTIONS lists them. Without a list, the handler decides. */
  readonly methods?: readonly string[];
  /** The pages that may read its responses. */
  readonly readers: Readers;
  /** Answers its failures. Without one, the first front end answers them. */
  readonly failures?: Handler;
  /** Refuses requests before they are counted. */
  readonly guards?: readonly Handler[];
  /** Whether its requests count for the rate limit. */
  readonly isLimited: boolean;
  readonly handle: Handler;
}

/** What all endpoints of a relay share. */
export interface EndpointContext {
  /** Warns of requests of pages that are no front end's. */
  readonly watchOrigins: (readers: Readers) => Handler;
  /** Empty if there is no rate limit. */
  readonly rateLimits: readonly Handler[];
}

/** Puts together what an endpoint decides about its requests, once for all of them. */
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
