/**
 * Variables that contain a secret itself, for hosts that cannot give programs a file. They are not options, because
 * flags are even more visible.
 */
export const secretVariables = { key: 'KEY', memoryPassword: 'SHARED_MEMORY_PASSWORD' } as const;

/** The end of a warning about such a variable. */
export const visibilityWarning = 'can be read by everything that sees the environment of this process: a file is safer';

/**
 * Separates the address of a shared memory from its password: hosting providers often give one variable with both.
 *
 * @returns undefined if there is no password, or it is no such address
 */
export function splitPassword(address: string): { readonly address: string; readonly password: string } | undefined {
  const match = /^(?<scheme>rediss?(?:\+\w+)?:\/\/)(?<user>[^:@/]*):(?<password>.+)@(?<rest>[^@]*)$/.exec(address);
  const { scheme, user, password, rest } = match?.groups ?? {};
  if (password === undefined) return undefined;
  const withoutPassword = `${scheme}${user && `${user}@`}${rest}`;
  try {
    return { address: withoutPassword, password: decodeURIComponent(password) };
  } catch {
    return undefined;
  }
}

/** Removes the variables that contain secrets, so that child processes and crash reports have none. */
export function wipeSecrets(environment: Record<string, string | undefined>): void {
  for (const name of ['PROVIDER_CLIENT_SECRET', ...Object.values(secretVariables)]) delete environment[name];
  if (splitPassword(environment['SHARED_MEMORY'] ?? '')) delete environment['SHARED_MEMORY'];
}
