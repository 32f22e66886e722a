import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { DiscoveredProvider } from '../config/provider.ts';
import { createGrantMemory } from '../grants/grants.ts';
import { createLoginMemory } from '../login/memory.ts';
import { createMarks, type Home } from '../memory/home.ts';
import type { SharedMemory } from '../memory/shared.ts';
import type { Provider } from '../providers/provider.ts';
import { mostLogouts } from '../session/sessions.ts';

/** What a process remembers. A reload of the configuration keeps it. */
export type Memory = ReturnType<typeof createMemory>;

export function createMemory(now: Clock, shared?: SharedMemory) {
  const home: Home = { now, shared };
  return {
    home,
    logins: createLoginMemory(home),
    grants: createGrantMemory(home),
    logouts: createMarks(home, 'l', mostLogouts, true),
    /** The providers that were discovered last, by their settings. */
    providers: new Map<string, Provider>(),
  };
}

/** The key of a provider in {@link Memory.providers}. */
export function keyOfProvider(settings: DiscoveredProvider): string {
  return JSON.stringify(settings);
}

/** Forgets the providers that are no longer configured. */
export function forgetOthers({ registrations }: Config, { providers }: Memory): void {
  const kept = new Set(
    registrations.map(({ provider }) =>
      'known' in provider ? undefined : keyOfProvider(provider.discovered),
    ),
  );
  for (const key of providers.keys()) if (!kept.has(key)) providers.delete(key);
}
