'use client';

import { useLogin } from './use-login.js';

export default function Page() {
  const { user, error, isLoading, logIn, logOut } = useLogin();
  return (
    <>
      {isLoading && <p>Loading …</p>}
      {user === null && <p>You are not logged in.</p>}
      {user && <p>Hello, {user.name}</p>}
      <p role="alert">{error?.message}</p>
      <button type="button" onClick={() => logIn()}>
        Log in
      </button>
      <button type="button" onClick={logOut}>
        Log out
      </button>
    </>
  );
}
