import type { HostsOfSite } from '../../harness/relay/session-site.ts';

/** A tab or window of a browser. */
export interface Tab {
  open(url: string): Promise<void>;
  /** Clicks the element of the selector once it is visible. */
  click(selector: string): Promise<void>;
  /** Types into the field of the selector once it is visible. */
  type(selector: string, text: string): Promise<void>;
  /** Resolves once the element of the selector shows this text. */
  shows(selector: string, text: string): Promise<void>;
  /** Presses a key, wherever the focus is. */
  press(key: 'Tab' | 'Enter'): Promise<void>;
  /** Gives the page this size, as near as the window can. */
  resize(width: number, height: number): Promise<void>;
  /** The value of a JavaScript expression in the page. Rejects while the page changes. */
  value(expression: string): Promise<unknown>;
  url(): Promise<string>;
  /** The back button. */
  back(): Promise<void>;
  /** Resolves once the address has this beginning. */
  arrives(url: string): Promise<void>;
}

/** A browser with a new profile. */
export interface Visitor {
  openTab(): Promise<Tab>;
  /** The tab or window that the page opens during `act`. */
  popup(act: () => Promise<void>): Promise<Tab>;
  leave(): Promise<void>;
}

/** A browser engine with its own driver. */
export interface Engine {
  readonly name: string;
  /** Hosts on this machine that belong to one site for the engine. They differ if possible. */
  readonly hostsOfSite: HostsOfSite;
  /** Starts the engine. Throws if it is not installed. */
  start(): Promise<void>;
  newVisitor(): Promise<Visitor>;
  stop(): Promise<void>;
}

/** The time in milliseconds that a page may take for an action. */
export const patience = 100_000;

/** Resolves once the condition holds. It may fail meanwhile, because the page changes. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patience;
  let cause: unknown;
  const isSo = () =>
    holds().catch((error) => {
      cause = error;
      return false;
    });
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`in vain: ${what}`, { cause });
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
