import { LoginError } from '../../../client/src/errors.ts';

/** The parts of a browser that the client uses, for a page of the front end. */
export class FakePage {
  /** Whether the settings of the browser forbid the page to store anything. */
  blocksStorage = false;
  /** Whether IndexedDB refuses keys, as in private windows of some browsers. */
  keepsNoKeys = false;
  /** Where the page went. */
  readonly visits: string[] = [];
  /** The popup that the next `open` returns, or null if the browser blocks it. */
  popup: FakePage | null = null;
  closed = false;
  hasFocus = true;
  isSecure = true;
  /** Whether it is in a frame of another site. */
  isFramed = false;
  /** The page that opened it, if it may hear it. */
  opener: { postMessage(data: unknown, origin: string): void } | undefined;
  readonly #stored: Record<string, string> = {};
  /** The address after a load, a reload or `history.replaceState`. */
  href: string;

  constructor(href: string) {
    this.href = href;
  }

  get sessionStorage(): Record<string, string> {
    if (this.blocksStorage) throw new DOMException('Access is denied.', 'SecurityError');
    return this.#stored;
  }

  close(): void {
    this.closed = true;
  }

  /** The parameters of the start that the page went to last. */
  get start(): URLSearchParams {
    return new URL(this.visits.at(-1) ?? '').searchParams;
  }

  readonly location = Object.defineProperties(
    { origin: 'https://app.example.com', replace: (href: string) => void this.visits.push(href) },
    { href: { get: () => this.href, set: (href: string) => void this.visits.push(href) } },
  );
}

const records = new Map<string, unknown>();
const channels = new Set<BroadcastChannel>();
let page: FakePage;
let listeners: { type: string; listener: (event: object) => void }[] = [];

class Channel extends BroadcastChannel {
  constructor(name: string) {
    super(name);
    channels.add(this);
  }
}

/** An IndexedDB that holds its records in memory. They are cloned, as in a browser. */
const indexedDB = {
  open() {
    const succeed = (request: { result: unknown; onsuccess?: () => void }) =>
      queueMicrotask(() => request.onsuccess?.());
    const store = {
      get(name: string) {
        const request = { result: structuredClone(records.get(name)) };
        succeed(request);
        return request;
      },
      put(value: unknown, name: string) {
        if (page.keepsNoKeys) throw new DOMException('It cannot be cloned.', 'DataCloneError');
        records.set(name, structuredClone(value));
        const request = { result: name };
        succeed(request);
        return request;
      },
    };
    const database = { transaction: () => ({ objectStore: () => store }), close() {} };
    const opening = { result: database };
    succeed(opening);
    return opening;
  },
};

const last = new Map<string, Promise<unknown>>();

/** Web Locks, which Node.js 22 does not have. */
const locks = {
  async request<Result>(name: string, task: () => Promise<Result>): Promise<Result> {
    if (page.blocksStorage) throw new DOMException('The request was denied.', 'SecurityError');
    const result = (last.get(name) ?? Promise.resolve()).then(task);
    last.set(
      name,
      result.catch(() => {}),
    );
    return await result;
  },
};

const queueForReal = globalThis.queueMicrotask;
let reported: unknown[] = [];

const globals = {
  queueMicrotask: {
    value: (task: () => void) =>
      queueForReal(() => {
        try {
          task();
        } catch (error) {
          reported.push(error);
        }
      }),
  },
  navigator: { value: { locks } },
  BroadcastChannel: { value: Channel },
  indexedDB: { value: indexedDB },
  window: { get: () => page },
  isSecureContext: { get: () => page.isSecure },
  top: {
    get() {
      if (page.isFramed) throw new DOMException('It is of another origin.', 'SecurityError');
      return page;
    },
  },
  location: { get: () => page.location },
  sessionStorage: { get: () => page.sessionStorage },
  history: {
    value: {
      state: null,
      replaceState(_state: unknown, _title: string, url: URL) {
        page.href = url.href;
      },
    },
  },
  document: { value: { hasFocus: () => page.hasFocus } },
  open: { value: () => page.popup },
  close: { value: () => page.close() },
  scrollX: { value: 0 },
  scrollY: { value: 120 },
  scrollTo: { value: () => {} },
  requestAnimationFrame: { value: () => {} },
  addEventListener: {
    value: (type: string, listener: (event: object) => void) => void listeners.push({ type, listener }),
  },
  removeEventListener: {
    value(type: string, listener: (event: object) => void) {
      listeners = listeners.filter((one) => one.type !== type || one.listener !== listener);
    },
  },
};

/** Gives the tests of a `describe` a browser without logins. */
export function useBrowserGlobals(): void {
  let before: PropertyDescriptorMap;
  beforeEach('open a browser', () => {
    before = Object.getOwnPropertyDescriptors(globalThis);
    for (const [name, descriptor] of Object.entries(globals)) {
      Object.defineProperty(globalThis, name, { ...descriptor, configurable: true });
    }
    show(new FakePage('https://app.example.com/'));
  });
  afterEach('close it', () => {
    leave();
    records.clear();
    last.clear();
    reported = [];
    for (const name of Object.keys(globals)) {
      Reflect.deleteProperty(globalThis, name);
      const original = before[name];
      if (original !== undefined) Object.defineProperty(globalThis, name, original);
    }
  });
}

/** The page whose scripts run from now on. */
export function show(next: FakePage): FakePage {
  page = next;
  return page;
}

/** The pages get no messages of other tabs any more, like pages that the browser keeps for the back button. */
export function freeze(): void {
  for (const channel of channels) channel.close();
  channels.clear();
}

/** Ends the scripts of all pages, as when their tabs are closed or reloaded. */
export function leave(): void {
  freeze();
  listeners = [];
}

/** An event of the browser reaches the pages. */
function dispatch(wanted: string, event: object): void {
  for (const { type, listener } of listeners) if (type === wanted) listener(event);
}

/** The browser restores the pages, which it has kept for the back button. */
export const restoreFromCache = () => dispatch('pageshow', { persisted: true });

/** Another window sends a message to the pages. */
export const receive = (message: { source: unknown; origin: string; data: unknown }) => dispatch('message', message);

/** The device is online again. */
export const goOnline = () => dispatch('online', {});

/** The records that the browser keeps. */
export const keptRecords = (): unknown[] => [...records.values()];

/** The errors of listeners, which the browser shows in its console. */
export const reportedErrors = (): readonly unknown[] => reported;

/** The LoginError that a promise is rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<LoginError> {
  const failure = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof LoginError) return failure;
  throw new Error('it has not failed with a LoginError', { cause: failure });
}
