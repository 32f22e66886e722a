import type { Provider } from '../../providers/provider.ts';
import type { OneGrant, OneLogin } from '../../relay/one-login.ts';
import type { UpstreamCall } from '../../upstream/messages.ts';
import type { CheckContext } from '../context.ts';
import type { Finding } from '../finding.ts';
import { explainCall } from '../unreached.ts';
import type { CallRecorder, MadeCall } from './calls.ts';

/** A login whose callback has arrived, with what the steps of the check know about it so far. */
export interface Trial extends CheckContext {
  readonly login: OneLogin;
  readonly calls: CallRecorder;
  readonly grant: OneGrant;
  /** The configured provider, with the changes that were found to work, so that the next step can go on. */
  readonly provider: Provider;
}

/** The findings of a step, and its result for the next one. */
export interface Step<Result> {
  readonly findings: readonly Finding[];
  readonly result?: Result;
}

/**
 * Takes the place of the request log, which would record a call to the provider. The check needs no second record,
 * because `Trial.calls` has one.
 */
export const ignoreCall = (_: UpstreamCall): void => {};

/** Explains a call that got no answer. */
export function explainFailedCall(trial: Trial, { url, outcome, error }: MadeCall) {
  return explainCall(new URL(url), outcome, error, trial);
}
