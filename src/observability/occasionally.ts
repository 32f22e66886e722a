const quietTime = 60_000;
const mostSubjects = 20;

/**
 * Returns a function that runs a callback at most once a minute for each subject, and for at most 20
 * subjects a minute. Clients that choose the subjects cannot flood the log or the memory.
 *
 * @param now milliseconds on a clock that never goes back
 */
export function occasionally(
  now: () => number = () => performance.now(),
): (subject: string, run: () => void) => void {
  const recent = new Map<string, number>();
  return (subject, run) => {
    const time = now();
    for (const [old, since] of recent) if (time - since >= quietTime) recent.delete(old);
    if (recent.has(subject) || recent.size >= mostSubjects) return;
    recent.set(subject, time);
    run();
  };
}
