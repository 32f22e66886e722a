/** The manual pages, without their sections. */
export const manualPages = ['login-relay', 'login-relay.yaml'] as const;

/** The name of a manual page. */
export type ManualPage = (typeof manualPages)[number];
