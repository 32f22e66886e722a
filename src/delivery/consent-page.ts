import { hash } from 'node:crypto';
import type { Client } from '../clients/client.ts';
import { html, htmlPage, type Markup, pagePolicy } from './html.ts';

/** What a person is asked. */
interface Question {
  readonly client: Client;
  readonly redirectUri: string;
  /** Undefined: the provider decides. */
  readonly scope?: string | undefined;
  /** What it learns of the person besides id and name. Undefined: what the scope says. */
  readonly learns?: readonly ('email' | 'groups')[] | undefined;
  readonly provider: string;
  /** Where the answer is sent to. */
  readonly action: string;
  /** Proves that the answer is of this page. */
  readonly token: string;
}

/**
 * A page of anybody may show this one under a window that closes while it is clicked. So *Continue* works only a quiet
 * second after the page was uncovered or resized, and after somebody has turned to it: a pointer has moved, or a key was
 * pressed. A finger moves no pointer, so its press counts itself. A press that began too early ends the quiet, and does
 * not count however long it is held.
 */
const script = `
(() => {
  const button = document.querySelector('[value=continue]');
  const note = document.getElementById('too-early');
  // Whether the last press of each key and pointer began in time.
  const inTime = new Map();
  let quietSince;
  let position;
  let isAttended;
  // When it happened: a busy machine delivers presses late.
  const isQuiet = ({ timeStamp }) => timeStamp - quietSince >= 1000;
  const endQuiet = () => {
    quietSince = performance.now();
  };
  const startAgain = () => {
    endQuiet();
    inTime.clear();
    position = undefined;
    isAttended = false;
    button.value = 'continue';
  };
  for (const name of ['pageshow', 'focus', 'blur', 'resize', 'visibilitychange']) {
    addEventListener(name, startAgain);
  }
  // What was above may never have had the focus.
  document.documentElement.addEventListener('pointerenter', ({ pointerType }) => {
    if (pointerType === 'mouse') startAgain();
  });
  addEventListener('pointermove', ({ screenX, screenY }) => {
    const now = screenX + ' ' + screenY;
    if (position !== undefined && position !== now) isAttended = true;
    position = now;
  });
  for (const name of ['pointerdown', 'pointerup', 'keydown', 'keyup']) {
    addEventListener(name, (event) => {
      const press = event.pointerId ?? event.code;
      if (name.endsWith('down') && !event.repeat) inTime.set(press, isQuiet(event));
      if (!inTime.get(press)) endQuiet();
      else if (event.pointerType !== 'mouse') isAttended = true;
    });
  }
  button.addEventListener('click', (event) => {
    // 0: by a key, or by what helps people who use neither keys nor a pointer.
    const counts = isQuiet(event) && (isAttended || event.detail === 0);
    endQuiet();
    if (counts) {
      button.value = 'confirmed';
      return;
    }
    event.preventDefault();
    note.hidden = false;
  });
  startAgain();
})();
`;

/** The Content-Security-Policy of both pages. Only the first one has the script. */
export const consentPolicy = pagePolicy({ script, sendsForms: true });

/** The page that asks a person whether a client that nobody registered may log in. */
export function consentPage({
  client: { id, vouchedBy, name },
  redirectUri,
  scope,
  learns,
  provider,
  action,
  token,
}: Question): string {
  const title = 'Let a program log in as you?';
  const program =
    vouchedBy === 'host' ? new URL(id).host : 'It registered itself. Nobody checked it.';
  const main = html`<h1>${title}</h1>
<p>Continue only if you have just started this yourself, and know the program.</p>
<dl>
<dt>Program<dd>${program}
${name && html`<dt>It calls itself<dd><bdi>${name}</bdi>`}
<dt>The login goes to<dd>${destinationOf(redirectUri)}
<dt>Account at<dd>${provider}
<dt>It asks for<dd>${scope ?? everyone}
${learns && html`<dt>It learns<dd>${['who you are', ...learns.map((one) => learned[one])].join(', ')}`}
</dl>
${answers(action, token)}
<p id="too-early" role="status" hidden>This page has just appeared. Read it, move the pointer or press a key, and press Continue again after a second.</p>`;
  return htmlPage(title, main, html`<script>${{ markup: script }}</script>\n`);
}

/** What a person types who runs no scripts. Another page cannot know the token. */
export function numberOf(token: string): string {
  const number = hash('sha256', `number ${token}`, 'buffer').readUInt32BE() % 10_000;
  return `${number}`.padStart(4, '0');
}

/**
 * The page that asks once more, if the browser runs no scripts. A page of anybody can switch them off, by the sandbox of
 * a frame that opens this window. So presses alone do not answer.
 */
export function confirmationPage({
  redirectUri,
  scope,
  action,
  token,
}: Omit<Question, 'client' | 'provider'>): string {
  const title = 'Are you sure?';
  const number = numberOf(token);
  const typed = html`<p><label>If you have just started this login yourself, type the number ${number}: <input name="number" inputmode="numeric" autocomplete="off" size="4" pattern="${number}" required></label></p>`;
  const main = html`<h1>${title}</h1>
<p>You are asked once more, because your browser runs no scripts here.</p>
<dl>
<dt>The login goes to<dd>${destinationOf(redirectUri)}
<dt>It asks for<dd>${scope ?? everyone}
</dl>
${answers(action, token, typed)}`;
  return htmlPage(title, main);
}

const learned = { email: 'your e-mail address', groups: 'your groups' };
const everyone = 'what the provider gives to everyone';

function answers(action: string, token: string, before?: Markup): Markup {
  return html`<form method="post" action="${action}">
<input type="hidden" name="consent" value="${token}">
${before}<button name="decision" value="continue">Continue</button>
<button name="decision" value="cancel" formnovalidate>Cancel</button>
</form>`;
}

function destinationOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol === 'https:') return host;
  if (protocol === 'http:') return `a program on this device (${hostname})`;
  return `an app on this device (${protocol.slice(0, -1)})`;
}
