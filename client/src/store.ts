/** What this browser keeps of a login. */
export interface Kept {
  readonly key: CryptoKeyPair;
  /** Undefined: the relay gives this front end no refresh token. */
  readonly refreshToken: string | undefined;
}

/** Only IndexedDB keeps a key that no script can read. */
export const load = (name: string) => access<Kept>((records) => records.get(name));

export const save = (name: string, kept?: Kept) => access((records) => records.put(kept, name));

/** Without storage, a login lasts as long as the page. */
function access<T>(act: (records: IDBObjectStore) => IDBRequest<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const opening = indexedDB.open('login-relay');
    const fail = () => resolve(undefined);
    opening.onupgradeneeded = () => opening.result.createObjectStore('logins');
    opening.onerror = fail;
    opening.onsuccess = () => {
      const database = opening.result;
      const request = act(database.transaction('logins', 'readwrite').objectStore('logins'));
      request.onerror = fail;
      request.onsuccess = () => resolve(request.result);
      // An open database keeps some browsers from restoring the page with the back button.
      database.close();
    };
  });
}
