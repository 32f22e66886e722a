const result = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
const opening = indexedDB.open('login');
opening.onupgradeneeded = () => opening.result.createObjectStore('values');
const database = await result(opening);
const values = () => database.transaction('values', 'readwrite').objectStore('values');
export const load = (name) => result(values().get(name));
export const save = (name, value) => result(values().put(value, name));
