/** What `login-relay config` can do. */
export const configActions = ['check', 'print', 'schema'] as const;

/** The name of such an action. */
export type ConfigAction = (typeof configActions)[number];
