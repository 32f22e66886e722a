'use client';

import { useEffect, useState } from 'react';
import { login } from './login.js';

export default function Page() {
  const [user, setUser] = useState();
  const [problem, setProblem] = useState();
  useEffect(() => {
    const show = () => login.user().then(setUser, setProblem);
    show();
    return login.onChange(show);
  }, []);
  return (
    <>
      {user === null && <p>You are not logged in.</p>}
      {user && <p>Hello, {user.name}</p>}
      <p role="alert">{problem?.message}</p>
      <button type="button" onClick={() => login.login().catch(setProblem)}>
        Log in
      </button>
      <button type="button" onClick={() => login.logout()}>
        Log out
      </button>
    </>
  );
}
