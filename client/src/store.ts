/** What this browser keeps of a login. */
export interface Kept {
  readonly key: CryptoKeyPair;
  /** Undefined: the relay gives this front end no refresh token. */
  readonly refreshToken: string | undefined;
  /** The newest one of the relay: the next proof has it. */
  readonly nonce: string | undefined;
}

/** Only IndexedDB keeps a key that no script can read. */
/** @returns undefined if nothing is kept, null if the browser does not say */
export const load = (name: string) => access<Kept | undefined>((records) => records.get(name));

/** @returns null if the browser keeps nothing */
export const save = (name: string, kept?: Kept) => access((records) => records.put(kept, name));

/** Without storage, a login lasts as long as the page. */
async function access<T>(act: (records: IDBObjectStore) => IDBRequest<T>): Promise<T | null> {
  try {
    const opening = indexedDB.open('login-relay');
    opening.onupgradeneeded = () => opening.result.createObjectStore('logins');
    const database = await resultOf(opening);
    const records = database.transaction('logins', 'readwrite').objectStore('logins');
    const result = resultOf(act(records));
    // An open database keeps some browsers from restoring the page with the back button.
    database.close();
    return await result;
  } catch {
    return null;
  }
}

const resultOf = <T>(request: IDBRequest<T>) =>
  new Promise<T>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = reject;
  });
