// What the pages of all deliveries share: the settings, and what they show.

const setting = (name) => document.querySelector(`meta[name="${name}"]`).content;
const element = (id) => document.getElementById(id);

/** The relay's address. */
export const relay = setting('login-relay').replace(/\/$/, '');
/** The provider's name in the relay's paths. */
export const provider = 'provider';
/** The name of this front end at the relay. */
export const clientId = setting('client-id');
/** How the page gets its token. `session`: it gets none. `resource`: one for an API. `native`: it registers itself. */
export const delivery = setting('delivery');

/**
 * Runs a page. What a delivery throws is for the reader.
 *
 * @param delivery.begin ends a login that comes back
 * @param delivery.findUser looks the person up, if somebody is logged in
 * @param delivery.onChange calls its listener with whether somebody is logged in, if another tab
 *   changes that
 */
export async function run({ begin, findUser, logIn, logOut, onChange = () => {} }) {
  /** Shows who is logged in after an action. An action that fails does not end an earlier login. */
  async function showAfter(action) {
    const problem = await action().then(
      () => '',
      ({ message }) => message,
    );
    try {
      show(await findUser(), problem);
    } catch ({ message }) {
      show(undefined, problem || message);
    }
  }

  element('login').addEventListener('click', () => showAfter(logIn));
  element('logout').addEventListener('click', () => showAfter(logOut));
  await showAfter(begin);
  onChange((isLoggedIn) => {
    if (isLoggedIn === element('in').hidden) showAfter(async () => {});
  });
}

/** Shows who is logged in, if somebody is, and what is wrong. */
export function show(user, problem = '') {
  element('out').hidden = user !== undefined;
  element('in').hidden = user === undefined;
  element('name').textContent = user?.name ?? '';
  element('account').textContent = user?.login ?? '';
  element('problem').hidden = problem === '';
  element('problem').textContent = problem;
}

/** Looks up the user of a token. @throws an Error for the reader; its `cause` is the status */
export async function userOf(token) {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(`${relay}/api/user?provider=${provider}`, { headers });
  const body = await response.json();
  if (response.ok) return body;
  throw new Error(`The relay says: ${body.detail}`, { cause: response.status });
}

const toCome = [...element('steps').children];

/** Shows the requests to the relay, as they happen. Until the login begins, those to come follow. */
function followSteps() {
  const source = new EventSource('/steps');
  source.onmessage = ({ data }) => {
    const shown = JSON.parse(data).filter(({ frontEnd = clientId }) => frontEnd === clientId);
    const hasBegun = shown.some(({ request }) => request === toCome[0].textContent);
    element('steps').replaceChildren(...shown.map(stepItem), ...(hasBegun ? [] : toCome));
  };
  // A browser has few connections to one server, so hidden tabs give theirs back.
  document.addEventListener('visibilitychange', () => source.close(), { once: true });
}

function stepItem({ request, status, effect, call, failed }) {
  const item = newElement('li', '', failed ? 'failed' : '');
  const details = [`${status}: ${effect}`, call].filter(Boolean);
  item.append(newElement('code', request), ...details.map((text) => newElement('p', text, 'soft')));
  return item;
}

function newElement(name, textContent, className = '') {
  return Object.assign(document.createElement(name), { textContent, className });
}

document.addEventListener('visibilitychange', () => document.hidden || followSteps());
if (!document.hidden) followSteps();
