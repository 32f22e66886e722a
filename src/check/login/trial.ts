import type { Provider } from '../../providers/provider.ts';
import type { OneGrant, OneLogin } from '../../relay/one-login.ts';
import type { UpstreamCall } from '../../upstream/messages.ts';
import type { CheckContext } from '../context.ts';
import type { Finding } from '../finding.ts';
import { explainCall } from '../unreached.ts';
import type { CallRecorder, MadeCall } from './calls.ts';

/** A login that has come back, and what is known after each step. */
export interface Trial extends CheckContext {
  readonly login: OneLogin;
  readonly calls: CallRecorder;
  readonly grant: OneGrant;
  /** As configured, or as it turned out that it has to be, so that the next step works. */
  readonly provider: Provider;
}

/** What a step finds, and what it gives to the next one, if it works. */
export interface Step<Result> {
  readonly findings: readonly Finding[];
  readonly result?: Result;
}

/** The findings show each call. */
export const unobserved = (_: UpstreamCall): void => {};

/** What to say of a call that got no answer. */
export function explainMade(trial: Trial, { url, outcome, error }: MadeCall) {
  return explainCall(new URL(url), outcome, error, trial);
}
