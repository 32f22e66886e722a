import { hash } from 'node:crypto';
import type { Client } from '../clients/client-metadata.ts';
import { type Content, html, type Markup } from './html.ts';
import type { Label } from './page-texts.ts';
import type { Pages } from './pages.ts';

/** What a person is asked, in the consent to the login of a client. */
interface Question {
  readonly client: Client;
  readonly redirectUri: string;
  /** The resource that the login is for. Undefined: the API of the provider. */
  readonly resource?: string | undefined;
  /** What is asked for at the API of the provider. Undefined: the provider decides. */
  readonly scope?: string | undefined;
  /** What resource and client learn of the person besides id and name, if the login is for a resource. */
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
export function consentPolicy(pages: Pages): string {
  return pages.policy({ script, sendsForms: true });
}

/** The page that asks a person whether a client that nobody registered may log in. */
export function consentPage(pages: Pages, question: Question): string {
  const { text } = pages;
  const { client, redirectUri, provider, action, token } = question;
  const { id, vouchedBy, name } = client;
  // A client with a document has proved its host, by the certificate. Anybody can choose a name.
  const host = vouchedBy === 'host' ? new URL(id).host : undefined;
  const called = name && html`<bdi>${name}</bdi>`;
  const main = html`<h1>${text('consent_heading')}</h1>
<dl data-lead>
<dt>${text('consent_program')}<dd>${host ?? called ?? text('consent_nameless')}
${host === undefined ? called && html`<span data-warning>${text('consent_unchecked')}</span>` : html`<span>${called}</span>`}
<dt>${text('consent_destination')}<dd>${destinationOf(pages, redirectUri)}
</dl>
<dl>
<dt>${text('consent_account')}<dd>${provider}
${requested(pages, question)}
</dl>
<p>${text('consent_advice')}</p>
${answers(pages, action, token)}
<p id="too-early" role="status" hidden>${text('consent_too_early')}</p>`;
  return pages.page('consent_heading', main, html`<script>${{ markup: script }}</script>\n`);
}

/** The number that a person types whose browser runs no scripts. Other pages cannot know it: they have no token. */
export function numberOf(token: string): string {
  const number = hash('sha256', `number ${token}`, 'buffer').readUInt32BE() % 10_000;
  return `${number}`.padStart(4, '0');
}

/**
 * The page that asks once more, if the browser runs no scripts. A page of anybody can switch them off, by the sandbox of
 * a frame that opens this window. So presses alone do not answer.
 */
export function confirmationPage(pages: Pages, question: Omit<Question, 'client' | 'provider'>): string {
  const { text } = pages;
  const { redirectUri, action, token } = question;
  const number = numberOf(token);
  const typed = html`<p><label>${text('consent_again_number', { number })} <input name="number" inputmode="numeric" autocomplete="off" size="4" pattern="${number}" required></label></p>`;
  const main = html`<h1>${text('consent_again_heading')}</h1>
<p>${text('consent_again_about')}</p>
<dl>
<dt>${text('consent_destination')}<dd>${destinationOf(pages, redirectUri)}
${requested(pages, question)}
</dl>
${answers(pages, action, token, typed)}`;
  return pages.page('consent_again_heading', main);
}

/** What the program gets, in words. */
function requested(
  { text }: Pages,
  { resource, scope, learns = [] }: Pick<Question, 'resource' | 'scope' | 'learns'>,
): Markup {
  if (resource !== undefined) {
    const words = [text('scope_identity'), ...learns.map((one) => text(`scope_${one}`))];
    return html`<dt>${text('consent_resource')}<dd>${resource.replace(/^https:\/\//, '')}
<dt>${text('consent_learns')}<dd><ul>${words.map((one) => html`<li>${one}`)}</ul>`;
  }
  const items = scope?.split(' ').map((word) => {
    const label = meanings.get(word);
    return label ? html`<li>${text(label)} <code>${word}</code>` : html`<li>${word}`;
  });
  return html`<dt>${text('consent_scope')}<dd>${items ? html`<ul>${items}</ul>` : text('scope_everyone')}`;
}

/** What scopes mean that have one meaning at every provider that knows them. */
const meanings: ReadonlyMap<string, Label> = new Map([
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

/** The form with the two answers. @param before what the person has to fill in first */
function answers({ text }: Pages, action: string, token: string, before?: Markup): Markup {
  return html`<form method="post" action="${action}">
<input type="hidden" name="consent" value="${token}">
${before}<button name="decision" value="continue">${text('consent_continue')}</button>
<button name="decision" value="cancel" formnovalidate>${text('consent_cancel')}</button>
</form>`;
}

/** Where the login goes, in words: a host, or a program or app on this device. */
function destinationOf({ text }: Pages, redirectUri: string): Content {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol === 'https:') return host;
  if (protocol === 'http:') return text('consent_this_device', { host: hostname });
  return text('consent_this_app', { scheme: protocol.slice(0, -1) });
}
