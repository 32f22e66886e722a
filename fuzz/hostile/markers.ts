/** The prefix of secrets inside the relay's codes and refresh tokens. No answer and no log may contain them. */
export const hidden = 'hidden-';

/** The prefix of those that must never reach the provider. */
export const forbidden = `${hidden}forbidden-`;

/** The prefix of those that may reach the provider only in a revocation. */
export const locked = `${hidden}locked-`;

/** The prefix of the provider's access tokens. */
export const granted = 'granted-';
