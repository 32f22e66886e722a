import { expect } from 'chai';
import { askingProgram } from '../../clients/support/asking-program.ts';
import { patience, type Tab } from './engine.ts';
import { engines, useEngine } from './engines.ts';

const scope = 'read:user user:email read:org repo offline_access';
const seconds = (count: number) => new Promise((resolve) => setTimeout(resolve, count * 1000));

for (const engine of engines) {
  describe(`the question about a program in ${engine.name}`, () => {
    const program = askingProgram({ scope });
    const { openTab } = useEngine(engine);

    async function asked(width: number, height: number): Promise<Tab> {
      const tab = await openTab();
      await tab.open(await program().question());
      await tab.resize(width, height);
      await tab.shows('h1', 'Let a program log in as you?');
      return tab;
    }

    const isAnswered = async (tab: Tab) => (await tab.url()).startsWith(program().redirectUri);

    /** Presses *Continue* as a person does who uses the keyboard, after a second. */
    async function pressContinue(tab: Tab): Promise<void> {
      await seconds(1.2);
      await tab.press('Tab');
      await tab.press('Enter');
    }

    it('takes the first press if all of it is in view', async () => {
      const tab = await asked(800, 1000);
      await pressContinue(tab);
      await tab.arrives(program().redirectUri);
    });

    it('takes no first press in a low window, and shows what is left until all was in view', async () => {
      const tab = await asked(420, 300);
      // WebKitGTK reports the size of the window later.
      await seconds(1);
      await pressContinue(tab);
      await tab.shows('#unread', 'This was not yet in view.');
      expect(await isAnswered(tab)).to.equal(false);
      const deadline = performance.now() + patience;
      while (!(await isAnswered(tab)) && performance.now() < deadline) {
        await pressContinue(tab);
        await seconds(0.5);
      }
      await tab.arrives(program().redirectUri);
    });
  });
}
