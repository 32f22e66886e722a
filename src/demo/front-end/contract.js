import { fail, greet } from './page.js'; // These two show a user, and an error.

// Take the token out of the address first, so that it does not stay in the history.
const { access_token: token, state } = Object.fromEntries(new URLSearchParams(location.search));
if (token) history.replaceState(null, '', location.pathname);

// The state binds the token to a login of this tab. Without it, a link could log the
// reader in as somebody else.
if (token && state === sessionStorage.getItem('state')) sessionStorage.setItem('token', token);
else if (token) fail(new Error('That login was not started in this tab, so it was not used.'));
if (token) sessionStorage.removeItem('state');

document.getElementById('login').onclick = () => {
  const fresh = crypto.randomUUID();
  sessionStorage.setItem('state', fresh);
  location.assign(`http://localhost:8000/auth/provider?client_id=contract&state=${fresh}`);
};
document.getElementById('logout').onclick = () => {
  sessionStorage.removeItem('token');
  greet(null);
};

async function findUser() {
  const kept = sessionStorage.getItem('token');
  if (!kept) return null;
  const headers = { Authorization: `Bearer ${kept}` };
  const answer = await fetch('http://localhost:8000/api/user?provider=provider', { headers });
  const user = await answer.json();
  if (answer.ok) return user;
  // Any other failure may be temporary.
  if (answer.status === 401) sessionStorage.removeItem('token');
  throw new Error(`The relay says: ${user.detail}`);
}

findUser().then(greet, fail);
