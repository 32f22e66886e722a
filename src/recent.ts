import { hash } from 'node:crypto';
import type { Clock } from './clock.ts';

/**
 * A map whose entries have lifetimes of their own.
 *
 * @param most entries; beyond it, the oldest one is forgotten
 * @param holdsSecrets whether no value stays in memory for longer than its time. Otherwise, one may stay until the next
 *   change
 */
export function createLasting<Value>(most: number, now: Clock, holdsSecrets = false) {
  // Oldest first.
  const entries = new Map<string, { value: Value; end: number; timer?: NodeJS.Timeout }>();

  function forget(key: string): void {
    // A timer that stays would keep the entry in memory, beyond the limit.
    clearTimeout(entries.get(key)?.timer);
    entries.delete(key);
  }

  return {
    /** @returns undefined if there is no entry, or if its time is over */
    get(key: string): Value | undefined {
      const entry = entries.get(key);
      return entry !== undefined && now() < entry.end ? entry.value : undefined;
    },
    /** @param lifetime milliseconds */
    set(key: string, value: Value, lifetime: number): void {
      forget(key);
      for (const [oldest, { end }] of entries) {
        if (entries.size < most && now() < end) break;
        forget(oldest);
      }
      const entry = { value, end: now() + lifetime };
      if (!holdsSecrets) entries.set(key, entry);
      else entries.set(key, { ...entry, timer: setTimeout(forget, lifetime, key).unref() });
    },
    delete: forget,
    /** What is there, with the milliseconds that it has left. */
    all(): { readonly key: string; readonly value: Value; readonly left: number }[] {
      const each = [...entries].map(([key, { value, end }]) => ({ key, value, left: end - now() }));
      return each.filter(({ left }) => left > 0);
    },
  };
}

/**
 * A map of what may be secret, whose entries have one lifetime.
 *
 * @param lifetime milliseconds
 * @param most entries; beyond it, the oldest one is forgotten
 */
export function createRecent<Value>(lifetime: number, most: number, now: Clock) {
  const { get, set, delete: forget } = createLasting<Value>(most, now, true);
  return { get, set: (key: string, value: Value) => set(key, value, lifetime), delete: forget };
}

/** A key for these maps that does not tell its parts, which may be secret. */
export function keyOf(...parts: readonly (string | undefined)[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
