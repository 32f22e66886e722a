import type { Provider } from '../../providers/provider.ts';
import type { OneGrant, OneLogin } from '../../relay/one-login.ts';
import type { UpstreamCall } from '../../upstream/messages.ts';
import type { CheckContext } from '../context.ts';
import type { Finding } from '../finding.ts';
import { explainCall } from '../unreached.ts';
import type { CallRecorder, MadeCall } from './calls.ts';

/** A login that came back, and what is known after each step. */
export interface Trial extends CheckContext {
  readonly login: OneLogin;
  readonly calls: CallRecorder;
  readonly grant: OneGrant;
  /** The configured settings, or those that were found to work, so that the next step works. */
  readonly provider: Provider;
}

/** The findings of a step, and its result for the next one. */
export interface Step<Result> {
  readonly findings: readonly Finding[];
  readonly result?: Result;
}

/** Ignores a call, because the findings show it. */
export const unobserved = (_: UpstreamCall): void => {};

/** Explains a call that got no answer. */
export function explainFailedCall(trial: Trial, { url, outcome, error }: MadeCall) {
  return explainCall(new URL(url), outcome, error, trial);
}
