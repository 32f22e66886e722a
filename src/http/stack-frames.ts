/**
 * Where an unexpected error was thrown. The message is left out: those of URL, header and JSON errors
 * quote input that must not reach a log.
 */
export function stackFrames(error: unknown): string {
  if (!(error instanceof Error) || error.stack === undefined) return 'not an Error';
  const frames = error.stack.split('\n').filter((line) => /^ {4}at /.test(line));
  return [error.name, ...frames].join('\n');
}
