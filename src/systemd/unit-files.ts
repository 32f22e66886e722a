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
  /** The configuration file that the service reads: a template. */
  settings: readFileSync(new URL('../../deploy/config.yaml', import.meta.url), 'utf8'),
};
