import type { Context } from './context.ts';

/** Tells that the client has hung up before it was answered. */
export function clientGone({ res }: Context): AbortSignal {
  const gone = new AbortController();
  const onClose = () => {
    if (!res.writableFinished) gone.abort();
  };
  // While the relay was starting, it may have gone already.
  if (res.closed) onClose();
  else res.once('close', onClose);
  return gone.signal;
}
