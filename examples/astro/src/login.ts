import { createLogin } from 'login-relay-client';

export const login = createLogin({ relay: 'http://localhost:8000/auth/provider', clientId: 'app' });
