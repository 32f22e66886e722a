import { createLogin } from 'http://localhost:8000/client.js';
import { fail, greet } from './page.js'; // These two show a user, and an error.

const login = createLogin({
  relay: 'http://localhost:8000/auth/provider',
  clientId: 'session',
  mode: 'session', // The relay keeps the tokens in a cookie.
});

document.getElementById('login').onclick = () => login.login().catch(fail);
document.getElementById('logout').onclick = () => login.logout().catch(fail);
// Called at first, and after each login or logout, also in another tab.
login.onChange(() => login.user().then(greet, fail));
// Shows why a login failed, for example because the person cancelled it.
login.ready.catch(fail);
