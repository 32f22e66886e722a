import { createLogin } from 'http://localhost:8000/client.js';
import { fail, greet } from './page.js'; // They show a user, and an error.

// Your own API. The token opens nothing else.
const resource = `${location.origin}/api/notes`;
const login = createLogin({
  relay: 'http://localhost:8000/auth/provider',
  clientId: 'notes',
  resource,
});

async function readNotes() {
  const user = await login.user();
  if (!user) return null;
  const answer = await login.fetch(resource);
  const { notes } = await answer.json();
  return { name: user.preferred_username, login: notes.join(' ') };
}

document.getElementById('login').onclick = () => login.login().catch(fail);
document.getElementById('logout').onclick = () => login.logout().catch(fail);
// At first, and after each change, also in another tab.
login.onChange(() => readNotes().then(greet, fail));
// Such as: the person cancelled.
login.ready.catch(fail);
