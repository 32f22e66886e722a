import { createLogin } from 'http://localhost:8000/client.js';
import { fail, greet } from './page.js'; // These two show a user, and an error.

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
// Called at first, and after each login or logout, also in another tab.
login.onChange(() => readNotes().then(greet, fail));
// Shows why a login failed, for example because the person cancelled it.
login.ready.catch(fail);
