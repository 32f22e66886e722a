import { createGrantMemory, type GrantMemory } from '../grants/grants.ts';
import { createLoginMemory, type LoginMemory } from '../login/memory.ts';
import type { Provider } from '../providers/provider.ts';

/** What a process remembers. A reload of the configuration keeps it. */
export interface Memory {
  readonly logins: LoginMemory;
  readonly grants: GrantMemory;
  /** The providers that were discovered last, by their settings. */
  readonly providers: Map<string, Provider>;
}

/** @param now milliseconds since 1970 */
export function createMemory(now: () => number): Memory {
  return { logins: createLoginMemory(now), grants: createGrantMemory(now), providers: new Map() };
}
