import type { ChangeReason, Login, LoginErrorCode, LoginOptions, LoginRequest } from '../client.d.ts';
import { keepCookie } from './cookie.ts';
import { expectSecure, failAsBlocked, LoginError } from './errors.ts';
import type { Known } from './keeper.ts';
import { checkOptions } from './options.ts';
import { failAsNetwork, read } from './relay.ts';
import { type Pending, scrollBack, takePending, wrongIssuer } from './returning.ts';
import { keepTokens } from './tokens.ts';

/** What a tab tells the others. */
interface Message {
  readonly session?: Known | null;
  readonly reason?: ChangeReason | undefined;
  /** The login in a popup that has ended. */
  readonly state?: string;
  /** The arguments of the LoginError, because tabs cannot send the error itself to each other. */
  readonly failure?: ConstructorParameters<typeof LoginError> | undefined;
}

const minute = 60_000;

const closed = 'The window was closed.';
const unheard = ' Or this frame of another site cannot hear it: log in outside of the frame.';

/** Whether this page is in a frame below a page of another origin, whose address cannot be read. */
function isInForeignFrame(): boolean {
  try {
    return !top?.location.href;
  } catch {
    return true;
  }
}

/** @see RFC 6750 §3.1 */
const saysInvalid = ({ headers }: Response) => headers.get('WWW-Authenticate')?.includes('invalid_token');

const nothing = async () => null;

/**
 * Creates a function that runs a task once for all callers at the same time, who share the outcome. The arguments of
 * the first caller count.
 */
function shareRun<Given extends unknown[]>(task: (...given: Given) => Promise<void>) {
  let running: Promise<void> | undefined;
  return (...given: Given) => {
    running ??= task(...given).finally(() => {
      running = undefined;
    });
    return running;
  };
}

const unauthorized = () => new Response(null, { status: 401 });

/** The login on a server that renders the page. A server has no window, so no person is logged in there. */
const nobody = {
  ready: nothing(),
  login: nothing,
  fetch: async () => unauthorized(),
  token: nothing,
  user: nothing,
  logout: async () => {},
  onChange: () => nothing,
} as unknown as Login;

export function createLogin(given: LoginOptions): Login {
  const options = checkOptions(given);
  if (typeof window === 'undefined') return nobody;
  const { relay, clientId, origins, resource, debug = () => {} } = options;
  const name = ['login-relay', relay, clientId, resource].join(' ').trim();
  const registration = relay.replace(/.*\//, '');
  const userUrl = `${relay}/../../api/user?provider=${registration}&client_id=${clientId}`;
  const keeper = options.mode ? keepCookie(options) : keepTokens(options, name);
  const tabs = new BroadcastChannel(name);
  const tell = (message: Message) => tabs.postMessage(message);
  const listeners = new Set<Parameters<Login['onChange']>[0]>();
  let session: Known | null | undefined;
  /**
   * Counts logins and their ends. An answer from one login must not be used in another login, because that may belong
   * to another person.
   */
  let logins = 0;
  /** The session that this tab refreshed last, and until when a 401 refreshes it no more. */
  let refreshed: [session: Known | null, until: number] = [null, 0];
  /** Whether the user was looked up with the present token. */
  let isChecked = false;

  /** Rejects each login for which the person had left this page, because the person is back. */
  const leaves: (() => void)[] = [];

  /** The login that was over last. */
  let over: string | undefined;

  /**
   * Runs a task while no other tab runs one.
   *
   * @throws {LoginError} `insecure_context`, `storage_blocked`, or why the task failed
   */
  const runAlone = async <T>(task: () => Promise<T>): Promise<T> => {
    expectSecure();
    return navigator.locks.request(name, task).catch(failAsBlocked);
  };

  /**
   * Replaces the session, and tells the listeners and the other tabs.
   *
   * @param isTold another tab has told it, or knows it
   */
  function change(next: Known | null, reason?: ChangeReason, isTold?: boolean): void {
    debug('session', reason);
    if (!isTold) tell({ session: next, reason });
    isChecked = reason === 'user';
    if (!isChecked && reason !== 'refresh') {
      logins += 1;
      over = session?.id;
    }
    session = next;
    // An error of a listener is not an error of the login.
    for (const listener of listeners) queueMicrotask(() => listener(next, reason));
  }

  /**
   * Renews the session, or restores it if the page has none.
   *
   * @param isRefused the session of the page is of no use any more
   * @param isOver the token was fresh, so the login is over
   */
  const renew = shareRun((used: Known | null | undefined, isRefused?: boolean, isOver?: boolean) =>
    runAlone(async () => {
      if (session !== used) return;
      const restored = isOver ? undefined : await keeper.restore(used, isRefused);
      const isFresh = restored === undefined;
      const next = isOver ? await keeper.forget() : isFresh ? await keeper.refresh(used) : restored;
      if (isFresh && used) refreshed = [next, Date.now() + minute];
      const isSame = used && next?.id === used.id && (isFresh || next.id);
      const reason = next ? (isSame ? 'refresh' : 'login') : used ? 'ended' : undefined;
      // The other tabs restore it themselves.
      if (next !== used) change(next, reason, !(isFresh && used));
    }),
  );

  /** Ends the login in all tabs. @returns the address of the provider's own logout, if it has one */
  const logout = () =>
    runAlone(async () => {
      const providerLogout = await keeper.end(session);
      change(null, 'logout');
      return providerLogout;
    });

  tabs.onmessage = ({ data: { session: told, reason } }: MessageEvent<Message>) => {
    // A message may be late, and must not restore a login that has ended here.
    if (told !== undefined && !(told?.id && told.id === over)) change(told, reason, true);
  };
  // Another tab may have logged in or out while the browser kept this page for the back button.
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    const left = leaves.splice(0);
    renew(session)
      .catch(nothing)
      .then(() => {
        for (const leave of left) leave();
      });
  });
  addEventListener('online', () => prepare().catch(nothing));

  /** Finishes a login that has come back, and closes its popup. */
  async function finish({ response = {}, verifier, state, popup, scroll }: Pending): Promise<void> {
    const { code = '', error, error_description = '', request_id } = response;
    const failure = await runAlone(async () => {
      if (error) throw new LoginError(error as LoginErrorCode, error_description, request_id);
      change(await keeper.finish(code, verifier), 'login');
    }).then(
      () => undefined,
      (error: LoginError) => error,
    );
    tell({ state, failure: failure && [failure.code, failure.message, failure.requestId] });
    if (popup) close();
    if (failure) throw failure;
    scrollBack(scroll);
  }

  /** Finishes the login that has come back to this page, or restores an earlier one. @returns null without a login */
  async function start() {
    const pending = await takePending(options, name);
    try {
      if (pending) await finish(pending);
    } finally {
      // If a new login has failed, an earlier login continues.
      if (!session) await renew(session);
    }
    return session as Known | null;
  }

  /**
   * Sends the person to the login. The promise settles only if this page stays: when the popup has finished or was
   * closed, or when the person comes back.
   */
  async function login(request: LoginRequest = {}): Promise<void> {
    const { returnTo = location.href, scope = options.scope ?? '', popup } = request;
    const { prompt = '', loginHint: login_hint = '' } = request;
    const { href } = new URL(returnTo, location.href);
    if (!href.startsWith(`${location.origin}/`)) {
      throw new LoginError('return_to_invalid', href);
    }
    expectSecure();
    const isFramed = isInForeignFrame();
    if (popup && isFramed && options.mode) {
      throw new LoginError('frame_foreign', 'In a frame of another site, browsers send no cookie.');
    }
    const state = crypto.randomUUID();
    const verifier = crypto.randomUUID() + crypto.randomUUID();
    // Browsers open a popup only in the click, so it waits empty for its address.
    const tab = (popup && open('', '', 'width=500,height=700')) || window;
    const pending: Pending = {
      state,
      verifier,
      returnTo: href,
      scroll: scrollY,
      popup: tab !== window,
    };
    const parameters = await keeper.start(verifier, href);
    const given = { client_id: clientId, state, scope, prompt, login_hint };
    const query = new URLSearchParams({ ...given, ...parameters });
    // No await from here on, so that after a double click, storage and address belong to the same login.
    tab.sessionStorage[name] = JSON.stringify(pending);
    tab.location.href = `${relay}?${query}`;
    const before = logins;
    await new Promise<void>((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout>;
      const settle = (failure?: LoginError) => {
        clearTimeout(timer);
        tabs.removeEventListener('message', hear);
        removeEventListener('message', take);
        if (failure) reject(failure);
        else resolve();
      };
      const hear = ({ data }: MessageEvent<Message>) => {
        if (data.state === state) settle(data.failure && new LoginError(...data.failure));
      };
      // This is the popup of a frame of another site, so only this frame knows the login.
      const take = ({ source, origin, data }: MessageEvent) => {
        if (source !== tab || origin !== location.origin || data?.response?.state !== state) return;
        clearTimeout(timer);
        tab.close();
        const response = data.response.iss === relay ? data.response : wrongIssuer;
        finish({ ...pending, response, popup: false }).then(() => settle(), settle);
      };
      // Rejects once the person has closed the popup. With COOP, an open popup looks closed too, but then the popup has
      // the focus, and not this page. It may look closed before it gets the focus, so only a popup that was open at the
      // look before counts as closed. A popup that has finished sends a message before it closes, so the message arrives
      // before this error.
      const watch = (wasOpen?: boolean) => {
        timer = setTimeout(() => {
          const isOpen = !tab.closed || !document.hasFocus();
          if (isOpen || !wasOpen) watch(isOpen);
          else timer = setTimeout(settle, 500, new LoginError('popup_closed', closed + (isFramed ? unheard : '')));
        }, 500);
      };
      tabs.addEventListener('message', hear);
      if (tab === window) {
        leaves.push(() =>
          settle(logins === before ? new LoginError('login_left', 'The person came back.') : undefined),
        );
      } else {
        addEventListener('message', take);
        watch();
      }
    });
  }

  /** Renews a login whose token is about to end, and restores one that could not be restored before. */
  async function prepare(): Promise<void> {
    await settled;
    if (session !== null && (session?.until ?? 0) < Date.now()) await renew(session);
  }

  /**
   * Sends a request as the person. If the token may be over, it refreshes the login once, and sends it again.
   *
   * @param isLookUp the relay itself says if the token is over, and that ends the login
   */
  async function send(request: Request, isLookUp?: boolean): Promise<Response> {
    const login = logins;
    let response = unauthorized();
    for (let used = session; used && login === logins; used = session) {
      response = await keeper.fetch(request.clone(), used).catch(failAsNetwork);
      if (response.status !== 401) break;
      // With a token, the relay answers 401 to every failure of the provider.
      if (isLookUp && !options.mode && !saysInvalid(response)) break;
      if (used !== refreshed[0] || Date.now() > refreshed[1]) await renew(used, true);
      else if (isLookUp) await renew(used, true, true);
      else break;
    }
    return response;
  }

  /** Looks the user up, unless the relay has said with the token who it is. */
  const lookUp = shareRun(async () => {
    await prepare();
    if (isChecked || !session || session.identity) return;
    const login = logins;
    const response = await send(new Request(userUrl), true);
    // Meanwhile, the login may have ended, or another person may have logged in.
    if (login !== logins) return;
    const record = await read(response);
    await runAlone(async () => {
      if (!session || login !== logins) return;
      isChecked = true;
      if (JSON.stringify(record) === JSON.stringify(session.user)) return;
      change({ ...session, user: record }, 'user');
      await keeper.note?.(session);
    });
  });

  /** The record of the person. A known record is returned at once, and looked up anew for the next call. */
  async function user<T>(): Promise<T | null> {
    await settled;
    const looking = lookUp();
    if (session?.user) looking.catch((error) => debug('user', error));
    else await looking;
    return session ? ((session.user as T) ?? user()) : null;
  }

  const ready = start().catch(failAsBlocked);
  const settled = ready.catch(nothing);

  return {
    get session() {
      return session;
    },
    ready,
    login: (request) => login(request).catch(failAsBlocked),
    async fetch(input, init) {
      const request = new Request(input, init);
      const { origin } = new URL(request.url);
      if (!origins.includes(origin)) throw new LoginError('address_not_allowed', origin);
      await prepare();
      return send(request);
    },
    token: async () => {
      await prepare();
      return session?.accessToken ?? null;
    },
    user,
    logout,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
