import type { ObserveCall } from '../upstream/call.ts';
import type { Context } from './context.ts';

/** Puts a call to the provider into the record of the request that it is for. */
export function recordCall(ctx: Context): ObserveCall {
  return (call) => {
    ctx.state.providerCall = call;
  };
}

/** Aborts when the client hangs up before the response is sent. */
export function clientGone({ res }: Context): AbortSignal {
  const gone = new AbortController();
  const onClose = () => {
    if (!res.writableFinished) gone.abort();
  };
  // The client may already be gone.
  if (res.closed) onClose();
  // Before the request is recorded: the record has the call that this ends.
  else res.prependOnceListener('close', onClose);
  return gone.signal;
}
