/**
 * Writes to standard output, or to standard error.
 *
 * If the reader has gone, as in `login-relay --help | head -1`, the text is dropped without an error.
 *
 * @returns resolves once the text is written
 */
export function print(text: string, stream: NodeJS.WriteStream = process.stdout): Promise<void> {
  return new Promise((resolve, reject) => {
    // A stream without a listener would throw.
    if (stream.listenerCount('error') === 0) stream.on('error', () => {});
    stream.write(text, (error) => {
      if (!error || ('code' in error && error.code === 'EPIPE')) resolve();
      else reject(error);
    });
  });
}
