/** A listening socket that the parent process opened. It stays open when this process ends. */
export interface PassedSocket {
  /** Its file descriptor. */
  readonly fd: number;
}
