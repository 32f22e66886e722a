/* global authConfig, relay */
// Comes after the settings of docs/front-end.md, which are `authConfig`.

import { StrictMode, useContext } from 'react';
import { createRoot } from 'react-dom/client';
import { AuthContext, AuthProvider } from 'react-oauth2-code-pkce';
import { User } from './react-user.jsx';

function Page() {
  const { token, error, logIn, logOut, refreshAccessToken } = useContext(AuthContext);
  return (
    <>
      <button type="button" onClick={() => logIn(crypto.randomUUID())}>
        Log in
      </button>
      <button type="button" onClick={() => refreshAccessToken()}>
        Renew
      </button>
      <button type="button" onClick={() => logOut()}>
        Log out
      </button>
      <User relay={relay} token={token} />
      <p role="alert">{error}</p>
    </>
  );
}

createRoot(document.querySelector('main')).render(
  <StrictMode>
    <AuthProvider authConfig={authConfig}>
      <Page />
    </AuthProvider>
  </StrictMode>,
);
