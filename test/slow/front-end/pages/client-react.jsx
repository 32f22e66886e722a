/* global relay */

import { StrictMode, useEffect, useState, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { createLogin } from '../../../../client/client.js';

const login = createLogin({ relay: `${relay}/auth/provider`, clientId: 'app' });

function Page() {
  const session = useSyncExternalStore(login.onChange, () => login.session);
  const [user, setUser] = useState(null);
  useEffect(() => {
    if (session) login.user().then(setUser);
    else setUser(null);
  }, [session]);
  return (
    <>
      <button type="button" onClick={() => login.login()}>
        Log in
      </button>
      <button type="button" onClick={() => login.logout()}>
        Log out
      </button>
      <p role="status">{user ? `Hello, ${user.name}` : 'Nobody'}</p>
    </>
  );
}

createRoot(document.querySelector('main')).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
