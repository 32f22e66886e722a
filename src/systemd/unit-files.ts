import { readFileSync } from 'node:fs';

/** The files that systemd needs to run `/usr/bin/login-relay`. */
export const unitFiles = {
  service: readFileSync(
    new URL('../../deploy/systemd/login-relay.service', import.meta.url),
    'utf8',
  ),
  /** One of several relays on a machine: the part of its name after the `@` is its port. */
  template: readFileSync(
    new URL('../../deploy/systemd/login-relay@.service', import.meta.url),
    'utf8',
  ),
  socket: readFileSync(new URL('../../deploy/systemd/login-relay.socket', import.meta.url), 'utf8'),
  /** The file of variables that the service reads. */
  settings: readFileSync(
    new URL('../../deploy/systemd/login-relay.default', import.meta.url),
    'utf8',
  ),
};
