import { createLogin } from 'login-relay-client';

const relay = import.meta.env.VITE_RELAY ?? 'http://localhost:8000';
export const login = createLogin({ relay: `${relay}/auth/provider`, clientId: 'app' });

/** The person and what went wrong. `user` is null if nobody is logged in. */
export const person = $state({ user: undefined, problem: '' });

const show = (user) => {
  person.user = user;
};
const fail = ({ message }) => {
  person.problem = message;
};
login.onChange(() => login.user().then(show, fail));
login.ready.catch(fail);
