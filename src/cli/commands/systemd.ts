import { readFileSync } from 'node:fs';
import { isSea } from 'node:sea';
import { print, printError } from '../print.ts';

/** The files with which systemd runs `/usr/bin/login-relay`. */
const unitFiles = {
  service: readFileSync(new URL('../../../deploy/systemd/login-relay.service', import.meta.url)),
  /** The unit for several relays on one machine. The part of a unit's name after `@` is its port. */
  template: readFileSync(new URL('../../../deploy/systemd/login-relay@.service', import.meta.url)),
  socket: readFileSync(new URL('../../../deploy/systemd/login-relay.socket', import.meta.url)),
  /** A template of the configuration file that the service reads. */
  settings: readFileSync(new URL('../../../deploy/config.yaml', import.meta.url)),
};

/** Directories that the unit hides from the service: homes, and temporary files of other programs. */
const hiddenDirectories = /^\/(home|root|run\/user|tmp|var\/tmp)\//;

/** `login-relay systemd`: prints a file for systemd, with the path of this relay. */
export async function printUnitFile(file: keyof typeof unitFiles): Promise<void> {
  const command = isSea() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''];
  const unreachable = command.find((path) => hiddenDirectories.test(path));
  const startsRelay = file === 'service' || file === 'template';
  if (startsRelay && unreachable !== undefined) {
    await printError(
      `login-relay: the service cannot access ${unreachable}: install it elsewhere, for example in /usr/local/bin\n`,
    );
  }
  const commandLine = command.map(quoteWord).join(' ');
  // The replacement is a function, because `$` has a meaning in a replacement text.
  await print(unitFiles[file].toString().replace(/(?<=^ExecStart=)\S+/m, () => commandLine));
}

/** Quotes a word of a command line in a unit. @see systemd.service(5), "Command lines" */
function quoteWord(word: string): string {
  const escaped = word.replaceAll(/["\\]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /[\s'"\\;]/.test(word) ? `"${escaped}"` : escaped;
}
