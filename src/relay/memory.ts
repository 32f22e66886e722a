import { createGrantMemory, type GrantMemory } from '../grants/grants.ts';
import { createLoginMemory, type LoginMemory } from '../login/memory.ts';

/** What a process remembers of logins and grants. A reload of the configuration keeps it. */
export interface Memory {
  readonly logins: LoginMemory;
  readonly grants: GrantMemory;
}

/** @param now milliseconds since 1970 */
export function createMemory(now: () => number): Memory {
  return { logins: createLoginMemory(now), grants: createGrantMemory(now) };
}
