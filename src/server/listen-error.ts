/** Thrown when a port cannot be opened; its message is one line for the operator. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}
