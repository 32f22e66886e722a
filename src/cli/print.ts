/** Thrown if standard output cannot be written, for example because a disk is full. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
}

/**
 * Writes to standard output.
 *
 * If the reader has closed the pipe, as in `login-relay --help | head -1`, the text is dropped without an error.
 *
 * @throws {OutputError}
 */
export async function print(text: string): Promise<void> {
  const error = await write(text, process.stdout);
  if (!error || ('code' in error && error.code === 'EPIPE')) return;
  throw new OutputError(`cannot write the output: ${error.message}`);
}

/** Writes to standard error. A text that cannot be written is dropped. */
export async function printError(text: string): Promise<void> {
  await write(text, process.stderr);
}

/** Writes to a stream. Resolves with the error if that fails. */
function write(text: string, stream: NodeJS.WriteStream): Promise<Error | null | undefined> {
  // Without a listener, an error of the stream would be thrown and end the process.
  if (stream.listenerCount('error') === 0) stream.on('error', () => {});
  return new Promise((resolve) => stream.write(text, resolve));
}

/** Wraps a text at `width` characters. A longer word gets its own line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    const fits = last !== undefined && last.length + 1 + word.length <= width;
    if (fits) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
