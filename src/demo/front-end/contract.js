// The contract: the token comes back in the address of the page.
import { clientId, provider, relay, run, show, userOf } from './page.js';

// Do this first: the token must not stay in the address bar or the history.
const answer = takeAnswer();

run({
  async begin() {
    const problem = problemWith(answer);
    if (problem) throw new Error(problem);
    // Keep an earlier token: otherwise a forged link could log the reader out.
    if (answer.access_token) sessionStorage.setItem('token', answer.access_token);
  },

  async findUser() {
    const token = sessionStorage.getItem('token');
    if (!token) return undefined;
    try {
      return await userOf(token);
    } catch (error) {
      if (error.isRefusal) forgetLogin();
      throw error;
    }
  },

  logIn() {
    const state = crypto.randomUUID();
    sessionStorage.setItem('state', state);
    show('busy', 'Going to the provider.');
    location.assign(
      `${relay}/auth/${provider}?${new URLSearchParams({ client_id: clientId, state })}`,
    );
    return new Promise(() => {}); // The browser leaves the page.
  },

  async logOut() {
    forgetLogin();
  },
});

/** Reads what the relay added to the address, in the query or the fragment, and removes it there. */
function takeAnswer() {
  const url = new URL(location.href);
  const fragment = new URLSearchParams(url.hash.slice(1));
  const inFragment = fragment.has('access_token') || fragment.has('error');
  const parameters = inFragment ? fragment : url.searchParams;
  const taken = {};
  for (const name of ['access_token', 'state', 'error', 'error_description', 'request_id']) {
    taken[name] = parameters.get(name);
    url.searchParams.delete(name);
  }
  if (inFragment) url.hash = '';
  if (url.href !== location.href) history.replaceState(null, '', url);
  return taken;
}

/** What the reader should know about the relay's answer; empty if there is nothing to say. */
function problemWith({ access_token: token, state, error, error_description: description }) {
  if (!token && !error) return '';
  // The state binds the answer to a login of this tab. Otherwise a forged link could log the reader
  // in as somebody else. A failure has no state if the relay does not know which login has failed.
  const expected = sessionStorage.getItem('state');
  sessionStorage.removeItem('state');
  const ours = expected !== null && state === expected;
  if (!ours && (token || state !== null)) {
    return 'That login was not started in this tab, so it was not used.';
  }
  if (error === 'access_denied') return 'The login was cancelled.';
  return error ? `The login failed: ${(description || error).slice(0, 300)}` : '';
}

function forgetLogin() {
  for (const key of ['token', 'state']) sessionStorage.removeItem(key);
}
