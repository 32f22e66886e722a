import type { StrictProvider } from '../../../harness/provider/strict-provider.ts';
import type { Flags, RelayProcess } from '../../../harness/relay/relay-process.ts';
import { startRelayFor } from '../../../harness/relay/relay-under-test.ts';

/** A relay that listens on the same port after every restart. */
export class Replica {
  /** Its name in the balancer's configuration. */
  readonly name: string;
  readonly port: number;
  readonly #provider: StrictProvider;
  readonly #flags: Flags;
  #process: RelayProcess | undefined;

  constructor(name: string, port: number, provider: StrictProvider, flags: Flags = {}) {
    this.name = name;
    this.port = port;
    this.#provider = provider;
    this.#flags = flags;
  }

  get process(): RelayProcess {
    if (this.#process === undefined) throw new Error(`${this.name} has not started`);
    return this.#process;
  }

  async start(): Promise<void> {
    const flags = { ...this.#flags, port: `${this.port}` };
    this.#process = (await startRelayFor(this.#provider, flags)).process;
  }
}
