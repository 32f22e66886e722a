import type { ObserveCall } from '../upstream/call.ts';
import type { Context } from './context.ts';

/** Puts a call to the provider into the record of the request that it is for. */
export function recordCall(ctx: Context): ObserveCall {
  return (call) => {
    ctx.state.providerCall = call;
  };
}
