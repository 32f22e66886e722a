import type { Command } from 'commander';
import { describeProgram } from '../description.ts';
import { fileManualPage } from '../manual/file-page.ts';
import { manualPage } from '../manual/page.ts';
import type { ManualPage } from '../manual/pages.ts';

/** `login-relay man`: a manual page, with the date of the release or, from source, today's. */
export function man(page: ManualPage, program: Command): string {
  // The build of the executable replaces this variable by its value.
  const epoch = process.env['SOURCE_DATE_EPOCH'];
  const time = epoch === undefined ? new Date() : new Date(Number(epoch) * 1000);
  const date = time.toISOString().slice(0, 10);
  return page === 'login-relay'
    ? manualPage(describeProgram(program), date)
    : fileManualPage(program.name(), date);
}
