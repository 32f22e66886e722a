import { hash } from 'node:crypto';
import type { Clock } from './clock.ts';

/**
 * A map that forgets each entry after a time, and the oldest one if it is full.
 *
 * @param lifetime milliseconds until an entry is forgotten
 * @param most entries
 */
export function createRecent<Value>(lifetime: number, most: number, now: Clock) {
  // Oldest first.
  const entries = new Map<string, { value: Value; at: number; timer: NodeJS.Timeout }>();

  function forget(key: string): void {
    // A timer that stays would keep the entry in memory, beyond the limit.
    clearTimeout(entries.get(key)?.timer);
    entries.delete(key);
  }

  return {
    /** @returns undefined if there is no entry, or if it is too old */
    get(key: string): Value | undefined {
      const entry = entries.get(key);
      return entry !== undefined && now() - entry.at < lifetime ? entry.value : undefined;
    },
    set(key: string, value: Value): void {
      forget(key);
      for (const oldest of entries.keys()) {
        if (entries.size < most) break;
        forget(oldest);
      }
      // The value may be a secret. So don't keep it until the next access.
      const timer = setTimeout(forget, lifetime, key).unref();
      entries.set(key, { value, at: now(), timer });
    },
    delete: forget,
  };
}

/**
 * A map whose entries have lifetimes of their own. It may keep one until the next change: a value must not be secret.
 *
 * @param most entries; beyond it, the oldest one is forgotten
 */
export function createLasting<Value>(most: number, now: Clock) {
  // Oldest first.
  const entries = new Map<string, { readonly value: Value; readonly end: number }>();
  return {
    get(key: string): Value | undefined {
      const entry = entries.get(key);
      return entry !== undefined && now() < entry.end ? entry.value : undefined;
    },
    /** @param lifetime milliseconds */
    set(key: string, value: Value, lifetime: number): void {
      entries.delete(key);
      for (const [oldest, { end }] of entries) {
        if (entries.size < most && now() < end) break;
        entries.delete(oldest);
      }
      entries.set(key, { value, end: now() + lifetime });
    },
    delete: (key: string): boolean => entries.delete(key),
    /** What is there, with the milliseconds that it has left. */
    all(): { readonly key: string; readonly value: Value; readonly left: number }[] {
      const each = [...entries].map(([key, { value, end }]) => ({ key, value, left: end - now() }));
      return each.filter(({ left }) => left > 0);
    },
  };
}

/** A key for a {@link createRecent} that does not tell its parts, which may be secret. */
export function keyOf(...parts: readonly (string | undefined)[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
