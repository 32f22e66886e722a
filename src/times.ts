/** Times in seconds that are rules of the product and that several parts share. Other times are where they apply. */
export const times = {
  /** From the start of a login to its callback, when its state and its cookies expire. */
  login: 600,
  /**
   * From the callback of a login until its code expires, by kind of the front end. A program's code may have to be
   * copied by hand from a browser on another computer.
   */
  code: { page: 60, native: 300, machine: 0 },
  /** The age that a DPoP proof may have, and the time by which it may be ahead of this machine's clock. */
  proof: 60,
  /** After a refresh, while the replaced refresh token still works, because its client may not have received the next one. */
  refreshGrace: 60,
  /** Until the counts of a client address restart. */
  count: 600,
} as const;

/** Days for which a sealed text can be valid at most, whatever the configuration says. */
export const longestDays = { session: 400, refreshToken: 3650, clientId: 400 } as const;
