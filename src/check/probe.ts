import { RelayError } from '../errors.ts';
import type { ProviderAnswer, ProviderCall, ProviderRequest } from '../upstream/client.ts';
import { connectionProblem } from './connection.ts';
import type { Finding } from './finding.ts';
import type { WatchedClient } from './watched-client.ts';

/** Makes one call: the answer, or why there is none. */
export type Probe = (
  subject: string,
  request: ProviderRequest,
) => Promise<{ readonly answer: ProviderAnswer } | { readonly finding: Finding }>;

/** @param proxyError see {@link connectionProblem} */
export function createProbe(client: WatchedClient, proxyError: string | undefined): Probe {
  return async (subject, request) => {
    let seen: ProviderCall | undefined;
    try {
      const answer = await client.call(request, (call) => {
        seen = call;
      });
      return { answer };
    } catch (error) {
      if (!(error instanceof RelayError) || seen === undefined) throw error;
      return { finding: connectionProblem(subject, new URL(request.url), seen, proxyError) };
    }
  };
}
