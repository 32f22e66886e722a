import { hash } from 'node:crypto';
import type { Clock } from '../clock.ts';

interface Entry<Value> {
  readonly value: Value;
  readonly end: number;
  readonly group: string | undefined;
  readonly timer?: NodeJS.Timeout;
}

/**
 * A map with a lifetime for each entry.
 *
 * @param most entries. A full map drops expired entries first, then the oldest of the largest group
 * @param holdsSecrets whether an expired value must leave memory at once. Otherwise, it may stay until its place is
 *   needed
 */
export function createLasting<Value>(most: number, now: Clock, holdsSecrets = false) {
  // Insertion order, so the oldest entry comes first, here and in each group.
  const entries = new Map<string, Entry<Value>>();
  const groups = new Map<string, Set<string>>();
  let setsSinceSearch = most;

  function forget(key: string): void {
    const { timer, group = '' } = entries.get(key) ?? {};
    // A timer that stays would keep the entry in memory, beyond the limit.
    clearTimeout(timer);
    entries.delete(key);
    const keys = groups.get(group);
    keys?.delete(key);
    if (keys?.size === 0) groups.delete(group);
  }

  function makeRoom(): void {
    const time = now();
    for (const [oldest, { end }] of entries) {
      if (time < end) break;
      forget(oldest);
    }
    setsSinceSearch += 1;
    if (entries.size >= most && setsSinceSearch > most / 16) {
      // Newer entries may have expired as well. A full search is rare, so that a flood of entries costs little time.
      setsSinceSearch = 0;
      for (const [key, { end }] of entries) if (end <= time) forget(key);
    }
    if (entries.size < most) return;
    let largest = new Set<string>();
    for (const keys of groups.values()) if (keys.size > largest.size) largest = keys;
    const [oldest] = largest.size > 0 ? largest : entries.keys();
    if (oldest !== undefined) forget(oldest);
  }

  return {
    /** @returns undefined if there is no entry, or it has expired */
    get(key: string): Value | undefined {
      const entry = entries.get(key);
      return entry !== undefined && now() < entry.end ? entry.value : undefined;
    },
    /** @param lifetime milliseconds @param group if the map is full, the largest group loses its oldest entry */
    set(key: string, value: Value, lifetime: number, group?: string): void {
      forget(key);
      makeRoom();
      const timer = holdsSecrets ? setTimeout(forget, lifetime, key).unref() : undefined;
      entries.set(key, { value, end: now() + lifetime, group, ...(timer && { timer }) });
      if (group !== undefined) groups.set(group, (groups.get(group) ?? new Set()).add(key));
    },
    delete: forget,
    all(): { readonly key: string; readonly value: Value; readonly left: number }[] {
      const each = [...entries].map(([key, { value, end }]) => ({ key, value, left: end - now() }));
      return each.filter(({ left }) => left > 0);
    },
  };
}

/**
 * A map of possibly secret values with one lifetime.
 *
 * @param lifetime milliseconds
 * @param most as in {@link createLasting}
 */
export function createRecent<Value>(lifetime: number, most: number, now: Clock) {
  const { get, set, delete: forget } = createLasting<Value>(most, now, true);
  return {
    get,
    set: (key: string, value: Value, group?: string) => set(key, value, lifetime, group),
    delete: forget,
  };
}

/** A key for these maps that does not reveal its parts, which may be secret. */
export function hashKey(...parts: readonly (string | undefined)[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
