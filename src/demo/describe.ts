import type { Demo } from './demo.ts';

/** The text for the terminal once the demo has started. It ends with a newline. */
export function describeDemo(demo: Omit<Demo, 'close'>): string {
  return `${[
    addresses(demo),
    demo.movedOn &&
      '  Not all of the usual ports from 8000 on are free: the demo uses the next free ones.',
    demo.origin && yourPage(demo),
    demo.second && configuration(demo),
    `  Open ${demo.frontEndUrl} and click “Log in”.
  At the provider any name will do. Ctrl-C stops the demo.`,
  ]
    .filter((part) => part)
    .join('\n\n')}\n\n`;
}

function addresses({ frontEndUrl, relayUrl, providerUrl, second }: Omit<Demo, 'close'>): string {
  const text = `
  The demo runs on this machine only:

    front end   ${frontEndUrl}
    relay       ${relayUrl}
    provider    ${providerUrl}`;
  if (second === undefined) return text;
  return `${text}

    intranet    ${second.frontEndUrl}
    staff       ${second.providerUrl}

  The intranet is a second front end. It uses only the staff provider.`;
}

/** What a page needs to log in at this relay. */
function yourPage({ origin, relayUrl }: Omit<Demo, 'close'>): string {
  return `  Your page at ${origin} can log in here:

    issuer      ${relayUrl}/auth/provider
    client_id   app

  Put this into the page:

    import { createLogin } from '${relayUrl}/client.js';
    const login = createLogin({ relay: '${relayUrl}/auth/provider', clientId: 'app' });
    await login.ready;
    document.querySelector('#log-in').onclick = () => login.login();
    if (login.session) console.log(await login.user());

  Each request to the relay appears below.`;
}

function configuration({ configuration }: Omit<Demo, 'close'>): string {
  return `  This configuration file describes the relay. login-relay --config reads such files:

${configuration.trimEnd()}`;
}
