/** The access token of a user. */
export function accessTokenOf(user: number): string {
  return `gho_${String(user).padStart(36, '0')}`;
}

/** The user with this access token; NaN if there is none. */
export function userOf(accessToken: string): number {
  return Number(/^gho_0*(\d+)$/.exec(accessToken)?.[1]);
}

/** The record of a user as JSON, as large as GitHub's. */
export function recordOf(user: number): string {
  return `{"login":"user-${user}","id":${user},"sub":"${user}","bio":"${'x'.repeat(1200)}"}`;
}
