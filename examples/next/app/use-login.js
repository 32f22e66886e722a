import { useEffect, useState } from 'react';
import { login } from './login.js';

export function useLogin() {
  const [user, setUser] = useState(); // null: not logged in
  const [error, setError] = useState();
  useEffect(() => {
    const show = () => login.user().then(setUser, setError);
    login.ready.catch(setError).then(show);
    return login.onChange(show);
  }, []);
  const logIn = (request) => {
    setError();
    login.login(request).catch(setError);
  };
  const isLoading = user === undefined && !error;
  return { user, error, isLoading, logIn, logOut: () => login.logout() };
}
