/**
 * Variables that contain a secret itself, for hosts that cannot give programs a file. They are not options, because
 * flags are even more visible.
 */
export const secretVariables = { key: 'KEY', memoryPassword: 'SHARED_MEMORY_PASSWORD' } as const;

export const isVisible = 'can be read by everything that sees the environment of this process: a file is safer';

/** An address as hosts give it, with its password. @returns undefined if it has none, or is no such address */
export function splitPassword(address: string): { readonly address: string; readonly password: string } | undefined {
  const { scheme, user, password, rest } =
    /^(?<scheme>rediss?(?:\+\w+)?:\/\/)(?<user>[^:@/]*):(?<password>.+)@(?<rest>[^@]*)$/.exec(address)?.groups ?? {};
  try {
    return password === undefined
      ? undefined
      : { address: `${scheme}${user && `${user}@`}${rest}`, password: decodeURIComponent(password) };
  } catch {
    return undefined;
  }
}

/** Removes the variables that contain secrets, so that child processes and crash reports have none. */
export function wipeSecrets(environment: Record<string, string | undefined>): void {
  for (const name of ['PROVIDER_CLIENT_SECRET', ...Object.values(secretVariables)]) delete environment[name];
  if (splitPassword(environment['SHARED_MEMORY'] ?? '')) delete environment['SHARED_MEMORY'];
}
