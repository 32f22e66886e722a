import type { Command } from 'commander';
import { describeProgram } from '../description.ts';
import { manualPage } from '../manual/page.ts';

/** `login-relay man`: the manual page, with the date of the release or, from source, today's. */
export function man(program: Command): string {
  // The build of the executable replaces this variable by its value.
  const epoch = process.env['SOURCE_DATE_EPOCH'];
  const time = epoch === undefined ? new Date() : new Date(Number(epoch) * 1000);
  const date = time.toISOString().slice(0, 10);
  return manualPage(describeProgram(program), date);
}
