/* global useLogin */
// Comes after the hook of client/README.md.

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

function Page() {
  const { user, error, isLoading, logIn, logOut } = useLogin();
  const text = isLoading ? 'Loading' : user ? `Hello, ${user.name}` : 'Nobody';
  globalThis.shown = [...(globalThis.shown ?? []), text];
  return (
    <>
      <button type="button" onClick={() => logIn()}>
        Log in
      </button>
      <button type="button" onClick={logOut}>
        Log out
      </button>
      <p role="status">{text}</p>
      <p role="alert">{error?.message}</p>
    </>
  );
}

createRoot(document.querySelector('main')).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
