/* global authConfig, relay */
// Comes after the settings of docs/http-api.md, which are `authConfig`.

import { StrictMode, useContext, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { AuthContext, AuthProvider } from 'react-oauth2-code-pkce';

function Page() {
  const { token, error, logIn, logOut } = useContext(AuthContext);
  return (
    <>
      <button type="button" onClick={() => logIn(crypto.randomUUID())}>
        Log in
      </button>
      <button type="button" onClick={() => logOut()}>
        Log out
      </button>
      <User token={token} />
      <p role="alert">{error}</p>
    </>
  );
}

/** Looks the user up with each new token. */
function User({ token }) {
  const [text, setText] = useState('Nobody');
  useEffect(() => {
    const controller = new AbortController();
    lookUp(token, controller.signal).then(setText, () => {});
    return () => controller.abort();
  }, [token]);
  return <p role="status">{text}</p>;
}

async function lookUp(token, signal) {
  if (!token) return 'Nobody';
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(`${relay}/api/user`, { headers, signal });
  if (!response.ok) return `Not logged in: ${response.status}`;
  return `Hello, ${(await response.json()).name}`;
}

createRoot(document.querySelector('main')).render(
  <StrictMode>
    <AuthProvider authConfig={authConfig}>
      <Page />
    </AuthProvider>
  </StrictMode>,
);
