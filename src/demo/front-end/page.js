// What the pages of all deliveries share: the settings and the views.

const setting = (name) => document.querySelector(`meta[name="${name}"]`).content;
const element = (id) => document.getElementById(id);

/** The relay's address. */
export const relay = setting('login-relay').replace(/\/$/, '');
/** The provider's name in the relay's paths. */
export const provider = setting('provider');
/** The name of this front end at the relay. */
export const clientId = setting('client-id');
/** How the page gets its token, such as `session`: it does not. */
export const tokenDelivery = setting('token-delivery');

/**
 * Runs a page. What a delivery throws is for the reader.
 *
 * @param delivery.begin ends a login that comes back
 * @param delivery.findUser looks the person up, if somebody is logged in. An error that has
 *   `isRefusal` says that the login is over
 * @param delivery.onChange calls its listener with whether somebody is logged in, if another tab
 *   changes that
 */
export async function run({ begin, findUser, logIn, logOut, onChange = () => {} }) {
  async function showUser(problem = '') {
    show('busy', 'Asking who you are.', problem);
    try {
      const user = await findUser();
      if (user) showCard(user, problem);
      else show('out', '', problem);
    } catch (error) {
      // Only a refusal ends the login. Any other failure may be temporary.
      show(error.isRefusal ? 'out' : 'failed', '', error.message);
    }
  }

  on('login', async () => {
    try {
      await logIn();
      await showUser();
    } catch (error) {
      show('out', '', error.message);
    }
  });
  on('retry', async () => {
    await showUser();
    const button = { out: 'login', failed: 'retry' }[element('page').dataset.view];
    if (button) element(button).focus();
  });
  for (const button of document.querySelectorAll('.log-out')) {
    button.addEventListener('click', async () => {
      await logOut().catch(() => {});
      show('out', 'You are logged out.');
      element('login').focus();
    });
  }
  element('picture').addEventListener('error', () => {
    element('picture').hidden = true;
  });
  // The back button may show an old state of the page. Look the user up again.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) showUser();
  });

  await showUser(
    await begin().then(
      () => '',
      ({ message }) => message,
    ),
  );
  onChange((isLoggedIn) => {
    const isShown = ['in', 'failed'].includes(element('page').dataset.view);
    if (isLoggedIn && !isShown) showUser();
    else if (!isLoggedIn && isShown) show('out');
  });
}

/** Looks up the user of a token. @throws an Error for the reader; with `isRefusal`, the token is useless */
export async function userOf(token) {
  let response;
  let body;
  try {
    response = await fetch(`${relay}/api/user?provider=${provider}`, {
      headers: { Authorization: `Bearer ${token}` },
      cache: 'no-store',
      signal: AbortSignal.timeout(20_000),
    });
    body = await response.json().catch(() => null);
  } catch {
    throw new Error(`The relay at ${relay} did not answer.`);
  }
  const detail = typeof body?.detail === 'string' ? body.detail : `status ${response.status}`;
  if (response.status === 401) {
    const refusal = new Error(`You were logged out. The relay says: ${detail}`);
    throw Object.assign(refusal, { isRefusal: true });
  }
  if (!response.ok) throw new Error(`The lookup failed. The relay says: ${detail}`);
  const isRecord = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (!isRecord) throw new Error('The relay’s answer was not a user record.');
  return body;
}

/** Shows one of the views. */
export function show(view, status = '', problem = '') {
  element('page').dataset.view = view;
  for (const id of ['out', 'busy', 'failed', 'in']) element(id).hidden = id !== view;
  element('problem').hidden = !problem;
  element('problem').textContent = problem;
  element('status').textContent = status;
}

function on(id, listener) {
  element(id).addEventListener('click', listener);
}

/** Each provider has its own fields. docs/providers.md lists them. */
function showCard(user, problem) {
  const account = firstText(user, 'login', 'username', 'preferred_username', 'nickname', 'email');
  const shown = firstText(user, 'name', 'full_name', 'global_name', 'display_name');
  const name = shown ?? account ?? firstText(user, 'sub') ?? 'Somebody';
  element('name').textContent = name;
  element('account').textContent = account ?? '';
  element('account').hidden = !account || account === name;
  element('letter').textContent = [...name][0].toUpperCase();
  const picture = webAddress(firstText(user, 'avatar_url', 'picture'));
  element('picture').hidden = !picture;
  if (picture) element('picture').src = picture;
  const profile = webAddress(firstText(user, 'html_url', 'web_url', 'profile'));
  element('profile').hidden = !profile;
  if (profile) element('profile').href = profile;
  show('in', `Logged in as ${name}.`, problem);
}

/** The first of the fields that holds a text, without blanks around it. */
function firstText(record, ...fields) {
  const texts = fields.map((name) => (typeof record[name] === 'string' ? record[name].trim() : ''));
  return texts.find((text) => text !== '');
}

/** The URL if it is http or https. Other schemes, such as `javascript:`, are dropped. */
function webAddress(text) {
  return typeof text === 'string' && /^https?:\/\//i.test(text) ? text : undefined;
}

let source;

/** Shows the requests to the relay, as they happen. */
function followSteps() {
  source?.close();
  source = undefined;
  // A browser has few connections to one server, so hidden tabs give theirs back.
  if (document.hidden) return;
  source = new EventSource('/steps');
  source.onmessage = ({ data }) => showSteps(JSON.parse(data));
}

function showSteps(steps) {
  const shown = steps.filter((step) => step.frontEnd === undefined || step.frontEnd === clientId);
  if (shown.length > 0) element('steps').replaceChildren(...shown.map(stepItem));
}

function stepItem({ request, status, effect, call, failed }) {
  const li = document.createElement('li');
  li.className = failed ? 'failed' : '';
  const code = document.createElement('code');
  code.textContent = request;
  li.append(code, ...[`${status}: ${effect}`, call].filter(Boolean).map(stepDetail));
  return li;
}

function stepDetail(text) {
  const span = document.createElement('span');
  span.className = 'detail';
  span.textContent = text;
  return span;
}

if (element('steps')) {
  document.addEventListener('visibilitychange', followSteps);
  followSteps();
}
