/* global users, relay */
// Comes after the settings of docs/http-api.md, which create `users`.

const status = document.querySelector('[role=status]');

async function show(user) {
  if (!user) {
    status.textContent = 'Nobody';
    return;
  }
  const headers = { Authorization: `Bearer ${user.access_token}` };
  const response = await fetch(`${relay}/api/user`, { headers });
  const { name } = await response.json();
  status.textContent = response.ok ? `Hello, ${name}` : `Not logged in: ${response.status}`;
}

async function finish() {
  try {
    return await users.signinRedirectCallback();
  } catch (error) {
    document.querySelector('[role=alert]').textContent = error.message;
    return await users.getUser();
  } finally {
    history.replaceState(null, '', '/');
  }
}

users.events.addUserLoaded(show);
users.events.addUserUnloaded(() => show());
document.querySelector('#log-in').onclick = () => users.signinRedirect();
document.querySelector('#log-out').onclick = async () => {
  await users.revokeTokens();
  await users.removeUser();
};
globalThis.renew = async () => (await users.signinSilent()).access_token;

const isResponse = /[?&](code|error)=/.test(location.search);
show(isResponse ? await finish() : await users.getUser());
