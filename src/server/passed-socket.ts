/** A socket that was opened by whoever started this process, and that stays open when it ends. */
export interface PassedSocket {
  /** Its file descriptor. */
  readonly fd: number;
}
