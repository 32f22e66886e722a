/** Begins what is inside the relay's codes and refresh tokens: no answer and no log may have it. */
export const hidden = 'hidden-';

/** Begins those among them that the provider must never be asked about. */
export const forbidden = `${hidden}forbidden-`;

/** Begins those that the provider may be asked to revoke, and nothing else. */
export const locked = `${hidden}locked-`;

/** Begins the access tokens of the provider. */
export const granted = 'granted-';
