import { createLogin } from 'login-relay-client';
import { useEffect, useState } from 'react';

const relay = import.meta.env.VITE_RELAY ?? 'http://localhost:8000';
export const login = createLogin({ relay: `${relay}/auth/provider`, clientId: 'app' });

/** The person, and what went wrong. `user` is null if nobody is logged in. */
export function useLogin() {
  const [user, setUser] = useState();
  const [problem, setProblem] = useState();
  useEffect(() => {
    const show = () => login.user().then(setUser, setProblem);
    show();
    login.ready.catch(setProblem);
    return login.onChange(show);
  }, []);
  return { user, problem };
}
