import type { Engine, Visitor } from './engine.ts';
import { chromium, firefox } from './puppeteer.ts';
import { webkit } from './webkit.ts';

const all: readonly Engine[] = [chromium, firefox, webkit];
const wanted = process.env['ENGINES']?.split(' ');

/** The engines that `ENGINES` names, else all. */
export const engines = all.filter(({ name }) => wanted?.includes(name) ?? true);

/** Runs the engine for the enclosing `describe`, with a visitor for each test. */
export function useEngine(engine: Engine): Omit<Visitor, 'leave'> {
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
