import type { StrictProvider } from '../../../harness/provider/strict-provider.ts';
import type { RelayProcess } from '../../../harness/relay/relay-process.ts';
import { startRelayFor } from '../../../harness/relay/relay-under-test.ts';

/** A relay that listens on the same port after every restart. */
export class Replica {
  /** Its name in the balancer's configuration. */
  readonly name: string;
  readonly port: number;
  readonly #provider: StrictProvider;
  #process: RelayProcess | undefined;

  constructor(name: string, port: number, provider: StrictProvider) {
    this.name = name;
    this.port = port;
    this.#provider = provider;
  }

  get process(): RelayProcess {
    if (this.#process === undefined) throw new Error(`${this.name} has not started`);
    return this.#process;
  }

  async start(): Promise<void> {
    this.#process = (await startRelayFor(this.#provider, { port: `${this.port}` })).process;
  }
}
