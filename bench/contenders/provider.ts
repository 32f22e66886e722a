import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Address } from '../load/http-connection.ts';
import { cores } from './cores.ts';
import { PinnedProcess } from './pinned-process.ts';

const program = fileURLToPath(new URL('../provider/provider.ts', import.meta.url));

/** The provider, with one way to it over loopback and one that is TLS and far away. */
export interface RunningProvider {
  readonly near: Address;
  readonly distant: Address;
  /** The file with the authority of the distant one. */
  readonly authorityFile: string;
  stop(): Promise<void>;
}

/** @param delay milliseconds of a round trip to the distant one */
export async function startProvider(delay: number): Promise<RunningProvider> {
  const command = [process.execPath, program, '--delay', String(delay)];
  const running = new PinnedProcess(cores.load, command);
  const { plain, distant, authorityFile } = await running.ready((output) =>
    output.endsWith('\n') ? JSON.parse(output) : undefined,
  );
  return {
    near: { port: plain },
    distant: { port: distant, authority: readFileSync(authorityFile, 'utf8') },
    authorityFile,
    stop: () => running.stop(),
  };
}
