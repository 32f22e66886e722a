import { createLogin } from 'http://localhost:8000/client.js';
import { fail, greet } from './page.js'; // These two show a user, and an error.

const relay = 'http://localhost:8000/auth/provider';
const redirectUri = location.origin + location.pathname;

/** Registers this page, as a command line or an MCP client would. @see RFC 7591 §3.1 */
async function register() {
  const answer = await fetch(`${relay}/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name: 'The demo’s page', redirect_uris: [redirectUri] }),
  });
  const { client_id: clientId, error_description: problem } = await answer.json();
  if (!answer.ok) throw new Error(problem);
  return clientId;
}

// A login comes back to the client that started it.
const earlier = sessionStorage.getItem('client-id') ?? 'none';
const login = createLogin({ relay, clientId: earlier, redirectUri });

document.getElementById('login').onclick = async () => {
  try {
    const clientId = await register();
    sessionStorage.setItem('client-id', clientId);
    await createLogin({ relay, clientId, redirectUri }).login();
  } catch (error) {
    fail(error);
  }
};
document.getElementById('logout').onclick = () => login.logout().catch(fail);
// Called at first, and after each login or logout, also in another tab.
login.onChange(() => login.user().then(greet, fail));
// Shows why a login failed, for example because the person cancelled it.
login.ready.catch(fail);
