import { onMount } from 'svelte';
import { login } from './login.js';

export function useLogin() {
  const state = $state({ user: undefined, error: undefined }); // null: not logged in
  const fail = (error) => Object.assign(state, { error });
  const show = () => login.user().then((user) => Object.assign(state, { user }), fail);
  onMount(() => {
    login.ready.catch(fail).then(show);
    return login.onChange(show);
  });
  const logIn = (request) => {
    state.error = undefined;
    login.login(request).catch(fail);
  };
  return { state, logIn, logOut: () => login.logout() };
}
