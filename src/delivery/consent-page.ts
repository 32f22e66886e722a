import { hash } from 'node:crypto';
import type { Client } from '../clients/read-metadata.ts';
import type { Asker } from '../login/state.ts';
import { findOwnedPart } from '../origins/owned-domains.ts';
import { type Content, html, type Markup } from './html.ts';
import type { Label } from './page-texts.ts';
import type { Pages } from './pages.ts';

export interface Question {
  readonly asker: Asker;
  readonly redirectUri: string;
  /** Undefined if the login is for the API of the provider. */
  readonly resource?: string | undefined;
  /** The scope at the API of the provider. Undefined if the provider decides. */
  readonly scope?: string | undefined;
  /** Whether the client can act at the API of the provider, itself or through the resource. */
  readonly usesProvider: boolean;
  /** The facts that the resource and the client learn about the person, besides id and name. */
  readonly learns?: readonly ('email' | 'groups')[] | undefined;
  /** The host of the provider. */
  readonly provider: string;
  /** The address to which the form sends the answer. */
  readonly action: string;
  /** Proves that this page sent the answer. */
  readonly token: string;
}

/**
 * Guards *Continue* against clicks that the person did not mean, or meant for something else.
 *
 * Clickjacking: another site can place a window over this page and close it as the user clicks. So *Continue* works
 * only after one undisturbed second and a sign of attention: the pointer moved, or a key was pressed. A finger moves no
 * pointer, so its press is a sign itself. A press that starts earlier is ignored, however long it is held, and restarts
 * the second.
 *
 * A question out of view: another site can open this page in a window of a few lines, scrolled to the buttons by a text
 * fragment or by Tab. So every line of the question must have been in view for a second. Otherwise, a press scrolls to
 * the first line that was not, and moves the focus there, so that the next Enter presses nothing. The lines need not be
 * in view together, because no small or magnified window could hold them.
 *
 * A window that is larger than the screen: in Firefox, another site can create such a window, and then open this page
 * in it. So the page is no wider than the part on the screen, and a line below the screen is not in view. On a second
 * screen below, the pointer shows that it is.
 */
const script = `
(() => {
  const button = document.querySelector('[value=continue]');
  const tooEarly = document.getElementById('too-early');
  const unread = document.getElementById('unread');
  // For each key and pointer, whether its last press began in time.
  const inTime = new Map();
  // The question is divided into strips, which are lower than a line. Each strip has the time since which it has been
  // in view, or is seen.
  const height = 8;
  const seen = -Infinity;
  const parts = Array.from(document.querySelectorAll('[data-asked]'), (element) => ({ element, strips: [] }));
  let quietSince;
  let position;
  let isAttended;
  let width = innerWidth;
  // How far down the pointer has been.
  let lowest = 0;
  // Pixels by which an honest window may reach beyond its screen, because a maximized window has its frame there.
  const frame = 24;
  const hasLastedASecond = (since, now) => now - since >= 1000;
  // The time of the press itself, because a busy machine delivers presses late.
  const isQuiet = ({ timeStamp }) => hasLastedASecond(quietSince, timeStamp);
  const endQuiet = () => {
    quietSince = performance.now();
  };
  // Where the part of the window ends that is on the screen: Infinity if all of the window is.
  const screenEdge = () => {
    const { availLeft = 0, availTop = 0, availWidth, availHeight } = screen;
    // innerWidth / outerWidth converts pixels of the screen to pixels of the zoomed page.
    const edge = (size, beyond) => (beyond > frame ? size - (beyond * innerWidth) / outerWidth : Infinity);
    return {
      right: edge(innerWidth, screenX + outerWidth - availLeft - availWidth),
      // Where the pointer has been is on the screen.
      bottom: Math.max(lowest, edge(innerHeight, screenY + outerHeight - availTop - availHeight)),
    };
  };
  // Records which strips are in view, and since when.
  const look = (now) => {
    const { right, bottom: lowestShown } = screenEdge();
    document.documentElement.style.maxWidth = right === Infinity ? '' : Math.max(right, 0) + 'px';
    for (const { element, strips } of parts) {
      const box = element.getBoundingClientRect();
      strips.length = Math.ceil(box.height / height);
      for (let at = 0; at < strips.length; at += 1) {
        const top = box.top + at * height;
        const bottom = Math.min(top + height, box.bottom);
        const isInView = top > -1 && bottom < Math.min(innerHeight, lowestShown) + 1 && box.right < right + 1;
        if (hasLastedASecond(strips[at], now)) strips[at] = seen;
        else if (isInView) strips[at] ??= now;
        else strips[at] = undefined;
      }
    }
  };
  // Scrolls to the first part that was not seen. Returns whether there is one.
  const showUnread = () => {
    for (const part of parts) {
      const { element, strips } = part;
      const at = strips.findIndex((since) => since !== seen);
      if (at < 0) continue;
      const isHere = element.contains(unread);
      if (!isHere) {
        // The note moves the lines of this part, so they must be seen anew.
        (element.querySelector('dt') ?? element).prepend(unread);
        strips.length = 0;
      }
      unread.hidden = false;
      element.focus({ preventScroll: true });
      const start = element.getBoundingClientRect().top + (isHere ? at * height : 0);
      scrollBy({ top: start - height, behavior: 'instant' });
      return true;
    }
    return false;
  };
  // Begins the quiet second anew, without a sign of attention.
  const restart = () => {
    endQuiet();
    inTime.clear();
    position = undefined;
    isAttended = false;
    // A press may have made it "confirmed" before the browser left this page and came back.
    button.value = 'continue';
    look(quietSince);
  };
  // Restarts, and forgets which parts were seen.
  const forget = () => {
    for (const part of parts) part.strips.length = 0;
    lowest = 0;
    restart();
  };
  for (const name of ['pageshow', 'focus', 'blur', 'visibilitychange']) {
    addEventListener(name, forget);
  }
  addEventListener('resize', () => {
    // A phone's browser hides its bars while somebody scrolls, and so changes the height. The lines stay where they
    // are.
    if (width === innerWidth) restart();
    else forget();
    width = innerWidth;
  });
  addEventListener('scroll', ({ timeStamp }) => look(timeStamp));
  // The pointer may come from a window above this page, of which no focus event told. So attention begins anew. It may
  // also come from this page's scroll bar, so what was read stays read.
  document.documentElement.addEventListener('pointerenter', ({ pointerType }) => {
    if (pointerType === 'mouse') restart();
  });
  addEventListener('pointermove', (event) => {
    const now = event.screenX + ' ' + event.screenY;
    lowest = Math.max(lowest, event.clientY);
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
    // "detail" is 0 for a key, and for the aids of people who use neither keys nor a pointer.
    const isMeant = isQuiet(event) && (isAttended || event.detail === 0);
    endQuiet();
    look(event.timeStamp);
    tooEarly.hidden = isMeant;
    if (isMeant && !showUnread()) {
      // Tells the relay that this script has accepted the press. After "continue", the relay asks once more.
      button.value = 'confirmed';
      return;
    }
    event.preventDefault();
    if (!isMeant) tooEarly.scrollIntoView({ block: 'nearest', behavior: 'instant' });
  });
  forget();
})();
`;

/** The Content-Security-Policy of both pages. Only the first has the script. */
export function consentPolicy(pages: Pages): string {
  return pages.policy({ script, sendsForms: true });
}

/** Reads who a client says it is. The host of its document is proved, but anybody can choose a name. */
export function readAsker({ id, vouchedBy, name }: Client): Asker {
  return { host: vouchedBy === 'host' ? new URL(id).host : undefined, name };
}

/** Renders the page that asks a person whether an unregistered client may log in. */
export function renderConsentPage(pages: Pages, question: Question): string {
  const { text } = pages;
  const { action, token } = question;
  const main = html`<div data-asked tabindex="-1"><h1>${text('consent_heading')}</h1></div>
${describeQuestion(pages, question)}
<p data-asked tabindex="-1">${text('consent_advice')}</p>
${answerForm(pages, action, token)}
<p id="too-early" role="status" hidden>${text('consent_too_early')}</p>
<strong id="unread" role="status" hidden>${text('consent_unread')}</strong>`;
  return pages.render('consent_heading', main, html`<script data-cfasync="false">${{ markup: script }}</script>\n`);
}

/**
 * The number that a person types if the browser runs no scripts. Other sites cannot compute it, because they do not
 * have the token. Each part of the question has one digit of it. If there are less than four parts, the first part has
 * the remaining digits.
 */
export function numberFor(question: Question): string {
  return digitsFor(question).join('');
}

/** The digits of the number, one text for each part of the question. */
function digitsFor(question: Question): readonly string[] {
  // The client, the destination, and each item of what it asks for.
  const parts = 2 + listsOf(question).flatMap(({ items }) => items).length;
  const length = Math.max(parts, 4);
  const number = BigInt(`0x${hash('sha256', `number ${question.token}`)}`) % 10n ** BigInt(length);
  const digits = `${number}`.padStart(length, '0');
  const extra = length - parts;
  return [digits.slice(0, extra + 1), ...digits.slice(extra + 1)];
}

/**
 * Renders the page that asks once more if the browser runs no scripts. A click alone does not count then, because
 * another site can switch scripts off, by the sandbox of a frame that opens this window.
 *
 * Each part of the question has one digit of the number beside it. So a person who knows the number has seen every
 * part, however small the window is, and wherever a text fragment scrolled it.
 */
export function renderConfirmationPage(pages: Pages, question: Question): string {
  const { text } = pages;
  const { action, token } = question;
  const number = numberFor(question);
  const typed = html`<p><label>${text('consent_again_digits')} <input name="number" inputmode="numeric" autocomplete="off" size="${`${number.length}`}" pattern="${number}" required></label></p>`;
  const main = html`<h1>${text('consent_again_heading')}</h1>
<p>${text('consent_again_about')}</p>
${describeQuestion(pages, question, digitsFor(question))}
${answerForm(pages, action, token, typed)}`;
  return pages.render('consent_again_heading', main);
}

/**
 * Describes who asks, where the login goes, and what the program gets.
 *
 * @param digits texts of `digitsFor`, if they are shown
 */
function describeQuestion(pages: Pages, question: Question, digits: readonly string[] = []): Markup {
  const { text } = pages;
  const { host, name } = question.asker;
  const called = name && html`<q><bdi>${name}</bdi></q>`;
  const unchecked = called && html`<span data-warning>${text('consent_unchecked')}</span>`;
  // Each part takes the next digit.
  const remaining = digits.map((digit) => html` <kbd>${digit}</kbd>`);
  const asker = html`${host === undefined ? (called ?? text('consent_nameless')) : emphasizeOwner(host)}${remaining.shift()}
${host === undefined ? unchecked : html`<span>${called}</span>`}`;
  const destination = html`${destinationOf(pages, question.redirectUri)}${remaining.shift()}`;
  const lists = listsOf(question).map(({ label, items }) => {
    const shown = items.map((item) => html`<li>${describeItem(pages, item)}${remaining.shift()}`);
    return row(text(label), html`<ul>${shown}</ul>`);
  });
  return html`<dl data-lead>
${row(text('consent_program'), asker)}
${row(text('consent_destination'), destination)}
</dl>
<dl>
${row(text('consent_account'), question.provider)}
${lists}
</dl>`;
}

/** A part of the question that must have been in view. */
function row(label: Markup, value: Content): Markup {
  return html`<div data-asked tabindex="-1"><dt>${label}<dd>${value}</div>`;
}

/** An item of a list: a text of the relay, a word, or a word with its explanation. */
type Item = { readonly label?: Label | undefined; readonly word?: string };

function describeItem({ text }: Pages, { label, word }: Item): Content {
  if (label === undefined) return word;
  return word === undefined ? text(label) : html`${text(label)} <code>${word}</code>`;
}

/** The lists of the question, each with a label: which resource, which facts, which scopes. */
function listsOf({ resource, scope, usesProvider, learns = [] }: Omit<Question, 'asker'>) {
  const lists: { readonly label: Label; readonly items: readonly Item[] }[] = [];
  if (resource !== undefined) {
    lists.push({ label: 'consent_resource', items: [{ word: resource.replace(/^https:\/\//, '') }] });
    const learned = learns.map((one): Item => ({ label: `scope_${one}` }));
    lists.push({ label: 'consent_learns', items: [{ label: 'scope_identity' }, ...learned] });
  }
  if (usesProvider) {
    const items = scope?.split(' ').map((word): Item => ({ label: scopeLabels.get(word), word }));
    lists.push({ label: 'consent_scope', items: items ?? [{ label: 'scope_everyone' }] });
  }
  return lists;
}

/** Explanations of scopes that mean the same at every provider that knows them. */
const scopeLabels: ReadonlyMap<string, Label> = new Map([
  ['openid', 'scope_identity'],
  ['identify', 'scope_profile'],
  ['profile', 'scope_profile'],
  ['read:user', 'scope_profile'],
  ['read_user', 'scope_profile'],
  ['User.Read', 'scope_profile'],
  ['email', 'scope_email'],
  ['user:email', 'scope_email'],
  ['groups', 'scope_groups'],
  ['guilds', 'scope_groups'],
  ['read:org', 'scope_groups'],
  ['read:organization', 'scope_groups'],
  ['offline_access', 'scope_lasting'],
  ['read_api', 'scope_read'],
  ['api', 'scope_write'],
  ['repo', 'scope_repositories'],
  ['public_repo', 'scope_public'],
]);

/** The form with both answers. @param before what the person has to fill in first */
function answerForm({ text }: Pages, action: string, token: string, before?: Markup): Markup {
  return html`<form method="post" action="${action}">
<input type="hidden" name="consent" value="${token}">
${before}<button name="decision" value="continue">${text('consent_continue')}</button>
<button name="decision" value="cancel" formnovalidate>${text('consent_cancel')}</button>
</form>`;
}

/** Where the login goes, in words: a host, or a program or app on this device. */
function destinationOf({ text }: Pages, redirectUri: string): Content {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol === 'https:') return emphasizeOwner(host);
  if (protocol === 'http:') return text('consent_this_device', { host: hostname });
  const scheme = protocol.slice(0, -1);
  // The host names an extension of an editor, as in vscode://publisher.extension.
  const shown = host.length > longestHost ? `${host.slice(0, longestHost)}…` : host;
  return text('consent_this_app', { scheme: shown === '' ? scheme : `${scheme}://${shown}` });
}

const longestHost = 60;

/**
 * Emphasizes the part of a host that its owner has registered, as evil.example in `accounts.google.com.evil.example`.
 * The part stays on one line if it fits, because a line that ends in `accounts.google.com.e` looks like Google's.
 */
function emphasizeOwner(host: string): Content {
  const { hostname } = new URL(`https://${host}`);
  const start = hostname.length - findOwnedPart(hostname).length;
  return start === 0 ? host : html`<i>${host.slice(0, start)}</i><b>${host.slice(start)}</b>`;
}
