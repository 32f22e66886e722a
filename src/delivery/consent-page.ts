import type { Client } from '../clients/client.ts';
import { html, htmlPage } from './html.ts';

/** What a person is asked. */
interface Question {
  readonly client: Client;
  readonly redirectUri: string;
  /** Undefined: the provider decides. */
  readonly scope: string | undefined;
  /** The host of the provider. */
  readonly provider: string;
  /** Where the answer is sent to. */
  readonly action: string;
  /** Proves that the answer is of this page. */
  readonly token: string;
}

/** The page that asks a person whether a client that nobody registered may log in. It has no scripts. */
export function consentPage({
  client: { id, vouchedBy, name },
  redirectUri,
  scope,
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
<dt>It asks for<dd>${scope ?? 'what the provider gives to everyone'}
</dl>
<form method="post" action="${action}">
<input type="hidden" name="consent" value="${token}">
<button name="decision" value="continue">Continue</button>
<button name="decision" value="cancel">Cancel</button>
</form>`;
  return htmlPage(title, main);
}

function destinationOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol === 'https:') return host;
  if (protocol === 'http:') return `a program on this device (${hostname})`;
  return `an app on this device (${protocol.slice(0, -1)})`;
}
