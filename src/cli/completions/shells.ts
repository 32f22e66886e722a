/** The shells that the command line can be completed in. */
export const shells = ['bash', 'zsh', 'fish'] as const;

/** The name of such a shell. */
export type Shell = (typeof shells)[number];
