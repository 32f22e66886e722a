import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';

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
    if (model === 'Session') return forgetful;
    const entries = new Map<string, Entry>();
    models.push(entries);
    return new MemoryAdapter(entries, models);
  };
}

class MemoryAdapter implements Adapter {
  readonly #entries: Map<string, Entry>;
  readonly #models: readonly Map<string, Entry>[];

  constructor(entries: Map<string, Entry>, models: readonly Map<string, Entry>[]) {
    this.#entries = entries;
    this.#models = models;
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    const expiresAt = expiresIn === undefined ? Infinity : Date.now() + expiresIn * 1000;
    this.#entries.delete(id);
    this.#entries.set(id, { payload, expiresAt });
    if (this.#entries.size > maxEntries) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    if (entry.expiresAt > Date.now()) return entry.payload;
    this.#entries.delete(id);
    return undefined;
  }

  async findByUid(): Promise<undefined> {}

  async findByUserCode(): Promise<undefined> {}

  async consume(id: string): Promise<void> {
    const payload = await this.find(id);
    if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    this.#entries.delete(id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const entries of this.#models) {
      for (const [id, { payload }] of entries) {
        if (payload.grantId === grantId) entries.delete(id);
      }
    }
  }
}

const forgetful: Adapter = {
  async upsert() {},
  async find() {},
  async findByUid() {},
  async findByUserCode() {},
  async consume() {},
  async destroy() {},
  async revokeByGrantId() {},
};
