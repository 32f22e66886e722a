/** What a peer says once it listens. */
export function announce(port) {
  process.stdout.write(`${JSON.stringify({ address: `http://127.0.0.1:${port}` })}\n`);
}
