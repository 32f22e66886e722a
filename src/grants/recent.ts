import { hash } from 'node:crypto';

/** A map that forgets each entry after a time, and the oldest one if it is full. */
export interface Recent<Value> {
  /** @returns undefined if there is no entry, or if it is too old */
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

interface Entry<Value> {
  readonly value: Value;
  readonly at: number;
}

/**
 * @param lifetime milliseconds until an entry is forgotten
 * @param most entries
 * @param now milliseconds since 1970
 */
export function createRecent<Value>(
  lifetime: number,
  most: number,
  now: () => number,
): Recent<Value> {
  // Oldest first.
  const entries = new Map<string, Entry<Value>>();

  return {
    get(key) {
      const entry = entries.get(key);
      return entry !== undefined && now() - entry.at < lifetime ? entry.value : undefined;
    },
    set(key, value) {
      const entry = { value, at: now() };
      entries.delete(key);
      for (const oldest of entries.keys()) {
        if (entries.size < most) break;
        entries.delete(oldest);
      }
      entries.set(key, entry);
      // The value may be a secret: don't keep it until somebody asks for it.
      const forget = () => {
        if (entries.get(key) === entry) entries.delete(key);
      };
      setTimeout(forget, lifetime).unref();
    },
    delete(key) {
      entries.delete(key);
    },
  };
}

/** A key for a {@link Recent} that does not tell its parts, which may be secret. */
export function keyOf(...parts: readonly (string | undefined)[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
