import { RelayError } from '../../../src/failures/relay-error.ts';

/** The code of a failure; of any other error, its text. */
export function codeOf(error: unknown): string {
  return error instanceof RelayError ? error.code : String(error);
}

/** How a task ends: with `ok`, or with the code of its failure. */
export async function outcomeOf(task: Promise<unknown>): Promise<string> {
  return await task.then(() => 'ok', codeOf);
}
