import { createLogin } from 'http://localhost:8000/client.js';
import { fail, greet } from './page.js'; // They show a user, and an error.

const login = createLogin({
  relay: 'http://localhost:8000/auth/provider',
  clientId: 'session',
  mode: 'session', // The relay keeps the tokens in a cookie.
});

document.getElementById('login').onclick = () => login.login().catch(fail);
document.getElementById('logout').onclick = () => login.logout().catch(fail);
// At first, and after each change, also in another tab.
login.onChange(() => login.user().then(greet, fail));
// Such as: the person cancelled.
login.ready.catch(fail);
