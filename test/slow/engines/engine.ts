/** A tab or window of a browser. */
export interface Tab {
  open(url: string): Promise<void>;
  /** Clicks what the selector finds, once it can be seen. */
  click(selector: string): Promise<void>;
  /** Types into the field that the selector finds, once it can be seen. */
  type(selector: string, text: string): Promise<void>;
  /** Resolves once what the selector finds shows this text. */
  shows(selector: string, text: string): Promise<void>;
  url(): Promise<string>;
  /** Resolves once the address begins so. */
  arrives(url: string): Promise<void>;
}

/** A browser with a profile of its own that nobody has used yet. */
export interface Visitor {
  openTab(): Promise<Tab>;
  /** The tab or window that the page opens while `act` goes on. */
  popup(act: () => Promise<void>): Promise<Tab>;
  leave(): Promise<void>;
}

/** A browser engine that is driven as its makers mean it to be. */
export interface Engine {
  readonly name: string;
  /** Starts what is needed; throws where it is not installed. */
  start(): Promise<void>;
  newVisitor(): Promise<Visitor>;
  stop(): Promise<void>;
}

/** Milliseconds that a page may take for what it is expected to do. */
export const patience = 15_000;

/** Resolves once the condition holds. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patience;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
