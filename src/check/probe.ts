import type { Naming } from '../config/reading.ts';
import { RelayError } from '../errors.ts';
import type { UpstreamCall } from '../upstream/call.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import type { UpstreamRequest, UpstreamResponse } from '../upstream/messages.ts';
import { explainCall, type Unreached } from './unreached.ts';

/** The answer to a call, or why there is none. */
type Probed = { readonly answer: UpstreamResponse } | { readonly unreached: Unreached };

/** Makes one call. */
export type Probe = (request: UpstreamRequest) => Promise<Probed>;

/** @param proxyError see {@link explainCall} */
export function createProbe(
  client: UpstreamClient,
  proxyError: string | undefined,
  naming: Naming,
): Probe {
  return async (request) => {
    let seen: UpstreamCall | undefined;
    try {
      const answer = await client.call(request, (call) => {
        seen = call;
      });
      return { answer };
    } catch (error) {
      if (!(error instanceof RelayError) || seen === undefined) throw error;
      return { unreached: explainCall(new URL(request.url), seen, proxyError, naming) };
    }
  };
}
