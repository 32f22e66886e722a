import { createLogin } from 'login-relay-client';
import { ref } from 'vue';

const relay = import.meta.env.VITE_RELAY ?? 'http://localhost:8000';
export const login = createLogin({ relay: `${relay}/auth/provider`, clientId: 'app' });

/** The person. Null: nobody is logged in. */
export const user = ref();
export const problem = ref('');

const show = (found) => {
  user.value = found;
};
const fail = ({ message }) => {
  problem.value = message;
};
login.onChange(() => login.user().then(show, fail));
login.ready.catch(fail);
