import { hash } from 'node:crypto';
import type { Clock } from '../clock.ts';

interface Entry<Value> {
  readonly value: Value;
  readonly end: number;
  readonly group: string | undefined;
  readonly timer?: NodeJS.Timeout;
}

/**
 * Creates a map with a lifetime for each entry.
 *
 * @param most entries. A full map drops expired entries first, then the oldest of the largest group
 * @param holdsSecrets whether an expired value must leave memory at once. Otherwise, it may stay until its place is
 *   needed
 */
export function createExpiringMap<Value>(most: number, now: Clock, holdsSecrets = false) {
  // The oldest entry comes first, here and in each group, because maps and sets keep the order of insertion.
  const entries = new Map<string, Entry<Value>>();
  const groups = new Map<string, Set<string>>();
  let setsSinceSearch = most;

  /** Deletes an entry, with its timer and its place in its group. */
  function forget(key: string): void {
    const { timer, group = '' } = entries.get(key) ?? {};
    // A timer that stays would keep the entry in memory, so that the map could exceed its limit.
    clearTimeout(timer);
    entries.delete(key);
    const keys = groups.get(group);
    keys?.delete(key);
    if (keys?.size === 0) groups.delete(group);
  }

  /** Drops expired entries. If the map is full, it drops the oldest entry of the largest group. */
  function makeRoom(): void {
    const time = now();
    for (const [oldest, { end }] of entries) {
      if (time < end) break;
      forget(oldest);
    }
    setsSinceSearch += 1;
    if (entries.size >= most && setsSinceSearch > most / 16) {
      // Newer entries may have expired as well. Search all of them only rarely, so that a flood of entries costs
      // little.
      setsSinceSearch = 0;
      for (const [key, { end }] of entries) if (end <= time) forget(key);
    }
    if (entries.size < most) return;
    let largestGroup = new Set<string>();
    for (const keys of groups.values()) if (keys.size > largestGroup.size) largestGroup = keys;
    const [oldest] = largestGroup.size > 0 ? largestGroup : entries.keys();
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
    /** Lists the entries that have not expired. `left` is the rest of a lifetime in milliseconds. */
    all(): { readonly key: string; readonly value: Value; readonly left: number }[] {
      const withTimeLeft = [...entries].map(([key, { value, end }]) => ({ key, value, left: end - now() }));
      return withTimeLeft.filter(({ left }) => left > 0);
    },
  };
}

/**
 * Creates a map of possibly secret values with the same lifetime, which leave memory at its end.
 *
 * @param lifetime milliseconds
 * @param most as in {@link createExpiringMap}
 */
export function createExpiringSecrets<Value>(lifetime: number, most: number, now: Clock) {
  const { get, set, delete: forget } = createExpiringMap<Value>(most, now, true);
  return {
    get,
    set: (key: string, value: Value, group?: string) => set(key, value, lifetime, group),
    delete: forget,
  };
}

/** Hashes texts into a key for these maps, which does not reveal them. They may be secret. */
export function hashKey(...parts: readonly (string | undefined)[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
