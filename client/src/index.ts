export { createLogin } from './create-login.ts';
export { LoginError } from './errors.ts';
