import type { AdapterFactory, AdapterPayload } from 'oidc-provider';

interface Entry {
  readonly payload: AdapterPayload;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

const maxEntries = 10_000;

/**
 * Keeps the provider's codes, tokens and pending logins in memory, the newest 10,000 of each kind.
 * It keeps no login sessions. So the demo always shows the login page, and logins in several tabs do not
 * interfere.
 */
export function createMemoryStore(): AdapterFactory {
  const models: Map<string, Entry>[] = [];
  return (model) => {
    const entries = new Map<string, Entry>();
    models.push(entries);
    const find = (id: string): AdapterPayload | undefined => {
      const { payload, expiresAt } = entries.get(id) ?? {};
      return expiresAt !== undefined && expiresAt > Date.now() ? payload : undefined;
    };
    return {
      async upsert(id, payload, seconds = Number.POSITIVE_INFINITY) {
        if (model === 'Session') return;
        entries.delete(id);
        entries.set(id, { payload, expiresAt: Date.now() + seconds * 1000 });
        const [oldest] = entries.keys();
        if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
      },
      find: async (id) => find(id),
      async findByUid() {},
      async findByUserCode() {},
      async consume(id) {
        const payload = find(id);
        if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
      },
      async destroy(id) {
        entries.delete(id);
      },
      async revokeByGrantId(grantId) {
        for (const kind of models) {
          for (const [id, { payload }] of kind) if (payload.grantId === grantId) kind.delete(id);
        }
      },
    };
  };
}
