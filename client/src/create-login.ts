import type { Login, LoginOptions, LoginRequest, Session } from '../client.d.ts';
import { keepCookie } from './cookie.ts';
import { failAsBlocked, LoginError } from './errors.ts';
import { failAsNetwork, read } from './relay.ts';
import { type Pending, scrollBack, takePending } from './returning.ts';
import { keepTokens } from './tokens.ts';

/** What a tab tells the others. */
interface Message {
  readonly session?: Session | null;
  /** The login in a popup that has ended. */
  readonly state?: string;
  /** Why it failed: the arguments of a LoginError, because tabs can't send the error itself. */
  readonly failure?: ConstructorParameters<typeof LoginError> | undefined;
}

const minute = 60_000;

/** @see RFC 6750 §3.1 */
const saysInvalid = ({ headers }: Response) =>
  headers.get('WWW-Authenticate')?.includes('invalid_token');

export function createLogin(options: LoginOptions): Login {
  const { relay, clientId } = options;
  const name = `login-relay ${relay} ${clientId}`;
  const registration = relay.replace(/.*\//, '');
  const userUrl = `${relay}/../../api/user?provider=${registration}&client_id=${clientId}`;
  const keeper = options.mode === 'session' ? keepCookie(options) : keepTokens(options, name);
  const tabs = new BroadcastChannel(name);
  const tell = (message: Message) => tabs.postMessage(message);
  const listeners = new Set<(session: Session | null) => void>();
  let session: Session | null = null;
  /** The session that this tab renewed last, and until when a 401 renews it no more. */
  let renewed: [session: Session | null, until: number] = [null, 0];

  /** One tab at a time. */
  const alone = <T>(task: () => Promise<T>): Promise<T> =>
    navigator.locks.request(name, task).catch(failAsBlocked);

  function set(next: Session | null): void {
    session = next;
    // An error of a listener is not one of the login.
    for (const listener of listeners) queueMicrotask(() => listener(next));
  }

  /** Changes the session in all tabs. */
  function setEverywhere(next: Session | null): void {
    tell({ session: next });
    set(next);
  }

  /** Replaces the session that was used, unless another tab has done so. */
  const replace = (used: Session | null, act: (used: Session | null) => Promise<Session | null>) =>
    alone(async () => {
      if (session !== used) return;
      const next = await act(used);
      // Not of a session that another tab tells: it may only have restored it, with a token that is over.
      if (used) renewed = [next, Date.now() + minute];
      if (next !== used) setEverywhere(next);
    });

  const renew = (used: Session | null) => replace(used, keeper.renew);

  const logout = () =>
    alone(async () => {
      const url = await keeper.end(session);
      setEverywhere(null);
      return url;
    });

  tabs.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.session !== undefined) set(data.session);
  };

  // Another tab may have logged in or out while the browser kept this page for the back button.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) renew(session).catch(() => {});
  });

  /** Finishes a login that has come back, and closes its popup. */
  async function finish({ response = {}, verifier, state, popup, scroll }: Pending): Promise<void> {
    const { code = '', error, error_description = '', request_id } = response;
    const done = alone(async () => {
      if (error) throw new LoginError(error, error_description, request_id);
      setEverywhere(await keeper.finish(code, verifier));
    });
    const failure = await done.then(
      () => undefined,
      ({ code, message, requestId }: LoginError): Message['failure'] => [code, message, requestId],
    );
    tell({ state, failure });
    if (popup) close();
    await done;
    scrollBack(...scroll);
  }

  async function start(): Promise<Session | null> {
    const pending = await takePending(options, name);
    try {
      if (pending) await finish(pending);
    } finally {
      // If a new login has failed, an earlier one goes on.
      if (!session) await renew(null);
    }
    return session;
  }

  async function login(request: LoginRequest = {}): Promise<void> {
    const { returnTo = location.href, scope = options.scope ?? '', popup } = request;
    const { href } = new URL(returnTo, location.href);
    if (!href.startsWith(`${location.origin}/`)) {
      throw new LoginError('return_to_invalid', 'Logins return to this site only.');
    }
    const state = crypto.randomUUID();
    const verifier = crypto.randomUUID() + crypto.randomUUID();
    // Browsers open a popup only in the click, so it waits empty for its address.
    const tab = (popup && open('', '', 'popup,width=500,height=700')) || window;
    const pending: Pending = {
      state,
      verifier,
      returnTo: href,
      scroll: [scrollX, scrollY],
      popup: tab !== window,
    };
    const parameters = await keeper.start(verifier, href);
    const query = new URLSearchParams({ client_id: clientId, state, scope, ...parameters });
    // Without an await from here: after a double click, storage and address are of the same login.
    tab.sessionStorage[name] = JSON.stringify(pending);
    tab.location.href = `${relay}?${query}`;
    // A page that is left waits for good. A closed popup says nothing: with COOP, an open one looks closed.
    await new Promise<void>((resolve, reject) => {
      tabs.addEventListener('message', ({ data }: MessageEvent<Message>) => {
        if (data.state !== state) return;
        if (data.failure) reject(new LoginError(...data.failure));
        else resolve();
      });
    });
  }

  /**
   * Sends a request as the person. If the token may be over, it refreshes the login once, and sends it again.
   *
   * @param isLookUp the relay itself says if the token is over, and that ends the login
   */
  async function send(request: Request, isLookUp?: boolean): Promise<Response> {
    await settled;
    if (!session) await renew(null);
    let response = new Response(null, { status: 401 });
    for (let used = session; used; used = session) {
      request.headers.set(...keeper.header(used));
      response = await fetch(request.clone(), keeper.init).catch(failAsNetwork);
      if (response.status !== 401) break;
      // With a token, the relay answers 401 to every failure of the provider.
      if (isLookUp && !options.mode && !saysInvalid(response)) break;
      if (used !== renewed[0] || Date.now() > renewed[1]) await renew(used);
      else if (isLookUp) await replace(used, keeper.forget);
      else break;
    }
    return response;
  }

  async function user<T>(): Promise<T | null> {
    const response = await send(new Request(userUrl), true);
    const record = session && (await read(response));
    // The login may have ended meanwhile. A late answer must not greet the person again.
    return session && record;
  }

  const ready = start().catch(failAsBlocked);
  // Listeners learn the session from its first change, or now that there is none.
  const settled = ready.catch(() => {}).then(() => session || set(null));

  return {
    get session() {
      return session;
    },
    ready,
    login: (request) => login(request).catch(failAsBlocked),
    fetch: async (input, init) => send(new Request(input, init)),
    user,
    logout,
    onChange(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}
