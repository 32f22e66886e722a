import type { IncomingMessage } from 'node:http';
import { mapLocation } from '../api-proxy/map-target.ts';
import { apiRequestHeaders, pageResponseHeaders } from '../api-proxy/passed-headers.ts';
import { RelayError } from '../failures/relay-error.ts';
import type { Context, Handler } from '../http/context.ts';
import type { StreamedRequest } from '../upstream/messages.ts';
import { isUnusable, passOn, requireTarget, type Way } from './pass-on.ts';
import type { SessionRequests } from './session-requests.ts';

/** A part of a provider's API that the pages of one front end may use, at a path of the relay. */
export interface Api extends Way {
  readonly methods: readonly StreamedRequest['method'][];
  /** Further request headers that pass to the API, in lower case. */
  readonly requestHeaders: readonly string[];
  readonly frontEnd: string;
  readonly registration: string;
}

/**
 * Passes requests of a page to a provider's API, with the access token of the page's session.
 *
 * @param clientNetworkUnlessProxy the client address of a request; undefined if it may be a proxy's
 * @param baseUrl the relay's public address
 * @see RFC 10017 §6.1.3.6
 */
export function proxyApi(
  api: Api,
  requests: SessionRequests,
  clientNetworkUnlessProxy: (request: IncomingMessage) => string | undefined,
  baseUrl: string,
): Handler {
  const mounted = new URL(baseUrl + api.path);
  return async (ctx: Context) => {
    const opened = await requests.openSession(ctx, api.frontEnd);
    const { session, registration } = opened;
    if (registration.name !== api.registration) throw new RelayError('api_of_other_provider');
    const url = requireTarget(ctx, api);
    const accessToken = requests.requireToken(opened);
    const method = api.methods.find((one) => one === ctx.method);
    if (method === undefined) throw new RelayError('method_not_allowed');
    const headers = apiRequestHeaders(ctx.req.headers, api.requestHeaders, accessToken);
    const { id, subjectId } = session;
    // Without an ID token, the session does not know its person.
    const person = subjectId && JSON.stringify([session.audience, subjectId]);
    const holder = { session: id, address: clientNetworkUnlessProxy(ctx.req), person };
    await passOn(ctx, {
      method,
      url,
      headers,
      failureInsteadOf,
      call: (request) =>
        registration.callApi({ ...request, holder }, (call) => {
          ctx.state.providerCall = call;
          // If the response has begun, only the log can say that it is incomplete.
          if (call.outcome !== 'answered') ctx.state.failure = call.outcome;
        }).response,
      headersToPass(received) {
        const { location } = received;
        const target = location && mapLocation(location, url, api.url, mounted);
        return { ...pageResponseHeaders(received), ...(target && { location: target }) };
      },
    });
  };
}

/** The failure that a page gets instead of an answer of the API with this status. Undefined if the answer passes. */
function failureInsteadOf(status: number): RelayError | undefined {
  if (status === 401) return new RelayError('token_invalid');
  return isUnusable(status) ? new RelayError('provider_answer_unusable') : undefined;
}
