import type { Engine, Tab, Visitor } from './engine.ts';
import { chromium, firefox } from './puppeteer.ts';
import { webkit } from './webkit.ts';

const all: readonly Engine[] = [chromium, firefox, webkit];
const wanted = process.env['ENGINES']?.split(' ');

/** The engines that `ENGINES` names, else all. */
export const engines = all.filter(({ name }) => wanted?.includes(name) ?? true);

/** A visitor for each test of the enclosing `describe`. */
export interface EachVisitor {
  openTab(): Promise<Tab>;
  /** The tab or window that the page opens during `act`. */
  popup(act: () => Promise<void>): Promise<Tab>;
}

/** Runs the engine for the enclosing `describe`. */
export function useEngine(engine: Engine): EachVisitor {
  let visitor: Visitor | undefined;
  const present = async () => {
    visitor ??= await engine.newVisitor();
    return visitor;
  };

  before(`${engine.name} starts`, () => engine.start());
  afterEach(async () => {
    await visitor?.leave();
    visitor = undefined;
  });
  after(`${engine.name} ends`, () => engine.stop());

  return {
    openTab: async () => (await present()).openTab(),
    popup: async (act) => (await present()).popup(act),
  };
}
