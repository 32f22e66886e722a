import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { expect } from 'chai';
import { eventually } from '../../../harness/system/eventually.ts';

/** A file of a library that only these tests have. */
export const programOf = (path: string) => join(import.meta.dirname, '..', 'node_modules', path);

/**
 * Does what a person does with each address of a login that a program prints.
 *
 * @param visit logs in, and says where the browser is sent back to
 */
export function onLogin(output: Readable, visit: (start: URL) => Promise<URL>): void {
  createInterface({ input: output }).on('line', async (line) => {
    const [start] = /http:\S+\/auth\/provider\?\S+/.exec(line) ?? [];
    if (start === undefined) return;
    const back = await visit(new URL(start));
    // It may print the address before it listens. Until then, the port may be somebody else's.
    await eventually(async () => expect((await fetch(back)).ok).to.equal(true));
  });
}
