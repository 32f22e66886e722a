/** Whether a URL points to this very machine. @see RFC 6761 §6.3 for localhost */
export function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
