import type { AccessAnswers } from './provider.ts';

/** The claims of OpenID Connect. @see OpenID Connect Core 1.0 §5.1 */
export const openidAccess = {
  users: { fields: ['sub'] },
  emails: { fields: ['email'], verified: 'email_verified', scope: 'email' },
  groups: { fields: ['groups'], scope: 'groups' },
} as const satisfies AccessAnswers;
