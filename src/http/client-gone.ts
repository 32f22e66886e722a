import type { Context } from './context.ts';

/** Tells that the client has hung up before it was answered. */
export function clientGone({ res }: Context): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) gone.abort();
  });
  return gone.signal;
}
