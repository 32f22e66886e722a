// Shows the requests to the relay, as they happen.

const list = document.getElementById('steps');
const frontEnd = document.querySelector('meta[name="client-id"]').content;
let source;

function follow() {
  source?.close();
  source = undefined;
  // A browser has few connections to one server, so hidden tabs give theirs back.
  if (document.hidden) return;
  source = new EventSource('/steps');
  source.onmessage = ({ data }) => render(JSON.parse(data));
}

function render(steps) {
  const shown = steps.filter((step) => step.frontEnd === undefined || step.frontEnd === frontEnd);
  if (shown.length > 0) list.replaceChildren(...shown.map(item));
}

function item({ request, status, effect, call, failed }) {
  const li = document.createElement('li');
  li.className = failed ? 'failed' : '';
  const code = document.createElement('code');
  code.textContent = request;
  li.append(code, ...[`${status}: ${effect}`, call].filter(Boolean).map(detail));
  return li;
}

function detail(text) {
  const span = document.createElement('span');
  span.className = 'detail';
  span.textContent = text;
  return span;
}

document.addEventListener('visibilitychange', follow);
follow();
