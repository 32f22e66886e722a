import type { Known } from './keeper.ts';
import { utf8 } from './proof.ts';

/** What this browser keeps of a login. */
export interface Kept {
  readonly session: Known;
  /** Undefined if the relay gives this front end no refresh token. */
  readonly refreshToken: string | undefined;
  readonly key: CryptoKeyPair;
}

/** The key pair of the login, the key that opens the sealed data, and the sealed data. No script can read the keys. */
type Sealed = [CryptoKeyPair, CryptoKey, ArrayBuffer];

/** Each key seals once, so the initialization vector can always be the same. */
const cipher = { name: 'AES-GCM', length: 256, iv: new Uint8Array(12) };

/**
 * Loads what is kept of a login.
 *
 * @param name of the login, as `createLogin` makes it from the relay, the client and the resource
 * @returns undefined if nothing is kept, null if the browser does not say, or the record does not open
 */
export const load = (name: string): Promise<Kept | undefined | null> =>
  access<Sealed | undefined>((records) => records.get(name))
    .then(async (record) => {
      if (!record) return undefined;
      const bytes = await crypto.subtle.decrypt(cipher, record[1], record[2]);
      return { ...JSON.parse(new TextDecoder().decode(bytes)), key: record[0] };
    })
    .catch(() => null);

/**
 * Keeps a login in this browser, in place of what was kept. Without storage, a login lasts as long as the page.
 *
 * @param name as in {@link load}
 * @param kept undefined to keep nothing
 * @returns whether the browser keeps it
 */
export async function save(name: string, kept?: Kept): Promise<boolean> {
  try {
    const key = await crypto.subtle.generateKey(cipher, false, ['encrypt', 'decrypt']);
    const sealed = await crypto.subtle.encrypt(cipher, key, utf8(JSON.stringify(kept)));
    await access((records) => records.put(kept && [kept.key, key, sealed], name));
    return true;
  } catch {
    return false;
  }
}

/** Reads or writes in IndexedDB, which alone keeps a key that no script can read. */
async function access<T>(act: (records: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const opening = indexedDB.open('login-relay');
  opening.onupgradeneeded = () => opening.result.createObjectStore('logins');
  const database = await resultOf(opening);
  const records = database.transaction('logins', 'readwrite').objectStore('logins');
  const result = resultOf(act(records));
  // An open database keeps some browsers from restoring the page with the back button.
  database.close();
  return result;
}

const resultOf = <T>(request: IDBRequest<T>) =>
  new Promise<T>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = reject;
  });
