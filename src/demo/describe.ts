import type { Demo } from './demo.ts';
import type { OwnPage } from './own-page.ts';

/** What a running demo says about itself. */
type DemoDescription = Omit<Demo, 'close'>;

/** The text for the terminal once the demo has started. It ends with a newline. */
export function describeDemo(demo: DemoDescription): string {
  return `${[
    addresses(demo),
    demo.movedOn &&
      '  Not all of the usual ports from 8000 on are free: the demo uses the next free ones.',
    `  Open ${demo.frontEndUrl} and click “Log in”. At the provider any name will do.`,
    demo.own && yourPage(demo.relayUrl, demo.own),
    '  Each request to the relay appears below. Ctrl-C stops the demo.',
  ]
    .filter((part) => part)
    .join('\n\n')}\n\n`;
}

function addresses({ frontEndUrl, relayUrl, providerUrl }: DemoDescription): string {
  return `
  The demo runs on this machine only:

    front end   ${frontEndUrl}
    relay       ${relayUrl}
    provider    ${providerUrl}`;
}

/** What a page needs to log in at this relay. */
function yourPage(relayUrl: string, { origin, tokenDelivery }: OwnPage): string {
  const mode = tokenDelivery === 'session' ? ", mode: 'session'" : '';
  return `  Your page at ${origin} can log in here:

    issuer      ${relayUrl}/auth/provider
    client_id   app

  Put this into the page:

    <button id="log-in">Log in</button>
    <p id="result"></p>
    <script type="module">
      import { createLogin } from '${relayUrl}/client.js';
      const login = createLogin({ relay: '${relayUrl}/auth/provider', clientId: 'app'${mode} });
      const show = (text) => { document.querySelector('#result').textContent = text; };
      const greet = (user) => show(user ? \`Hello, \${user.login}\` : 'Not logged in');
      const fail = ({ message }) => show(message); // such as: the person cancelled
      document.querySelector('#log-in').onclick = () => login.login().catch(fail);
      login.ready.then(() => login.user()).then(greet, fail);
    </script>`;
}
