import { fail, greet } from './page.js'; // These two show a user, and an error.

// What Decap CMS and Sveltia CMS do: open a popup, repeat its greeting, and take the
// result that it posts.
document.getElementById('login').onclick = () => {
  const relay = 'http://localhost:8000';
  const address = `${relay}/auth/provider/cms?provider=github&site_id=${location.hostname}`;
  const popup = open(address, 'login', 'popup,width=560,height=720');
  addEventListener('message', function listen({ origin, source, data }) {
    if (origin !== relay || source !== popup) return;
    if (data === 'authorizing:github') {
      popup.postMessage(data, relay);
      return;
    }
    removeEventListener('message', listen);
    popup.close();
    const [, outcome, json] = /^authorization:github:(success|error):(.+)$/.exec(data);
    const { token, message } = JSON.parse(json);
    if (outcome === 'error') fail(new Error(message));
    else sessionStorage.setItem('cms-token', token);
    findUser().then(greet, fail);
  });
};
document.getElementById('logout').onclick = () => {
  sessionStorage.removeItem('cms-token');
  greet(null);
};

// A CMS asks its provider. The demo's provider answers through the relay.
async function findUser() {
  const token = sessionStorage.getItem('cms-token');
  if (!token) return null;
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await fetch('http://localhost:8000/api/user?provider=provider', { headers });
  return answer.ok ? await answer.json() : null;
}

findUser().then(greet, fail);
