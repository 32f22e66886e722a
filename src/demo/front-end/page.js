// All pages of the demo show the user, errors and the requests with this script. The script of each page logs in.

const element = (id) => document.getElementById(id);
const relay = document.querySelector('meta[name="login-relay"]').content;
const clientId = document.querySelector('meta[name="client-id"]').content;

/** Shows who is logged in. @param user null if nobody is */
export function greet(user) {
  element('out').hidden = user !== null;
  element('in').hidden = user === null;
  element('name').textContent = user?.name ?? '';
  element('account').textContent = user?.login ?? '';
  // If nobody is logged in, the problem may be the reason, and stays.
  if (user !== null) showProblem('');
}

/** Shows what is wrong. An action that fails does not end an earlier login. */
export function fail({ message }) {
  element('out').hidden = !element('in').hidden;
  showProblem(message);
}

function showProblem(text) {
  element('problem').hidden = text === '';
  element('problem').textContent = text;
}

element('login').addEventListener('click', () => showProblem(''));
// The script of the page imports the relay's client, so that it cannot be loaded while the relay does not run.
import(document.querySelector('#script').src).catch((error) =>
  fail(error instanceof TypeError ? new Error(`The relay at ${relay} did not answer. Reload the page.`) : error),
);

const toCome = [...element('steps').children];

/** Shows the requests to the relay as they happen. Until the login begins, the requests to come follow. */
function followSteps() {
  const source = new EventSource('/steps');
  source.onmessage = ({ data }) => {
    const shown = JSON.parse(data).filter(({ frontEnd = clientId }) => frontEnd === clientId);
    const hasBegun = shown.some(({ request }) => request === toCome[0].textContent);
    element('steps').replaceChildren(...shown.map(createStepItem), ...(hasBegun ? [] : toCome));
  };
  // A hidden tab closes its connection, because a browser has few connections to one server.
  document.addEventListener('visibilitychange', () => source.close(), { once: true });
}

function createStepItem({ request, status, effect, call, failed }) {
  const item = createElement('li', '', failed ? 'failed' : '');
  const details = [`${status}: ${effect}`, call].filter(Boolean);
  item.append(createElement('code', request), ...details.map((text) => createElement('p', text, 'soft')));
  return item;
}

function createElement(name, textContent, className = '') {
  return Object.assign(document.createElement(name), { textContent, className });
}

document.addEventListener('visibilitychange', () => document.hidden || followSteps());
if (!document.hidden) followSteps();
