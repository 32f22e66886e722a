/**
 * Where an unexpected error was thrown. Its message is left out: it may quote what must not reach a
 * log, as those of URL, header and JSON errors do.
 */
export function stackFrames(error: unknown): string {
  if (!(error instanceof Error) || error.stack === undefined) return 'not an Error';
  const frames = error.stack.split('\n').filter((line) => /^ {4}at /.test(line));
  return [error.name, ...frames].join('\n');
}
