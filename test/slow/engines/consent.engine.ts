import { expect } from 'chai';
import { askingProgram } from '../../clients/support/asking-program.ts';
import { type Tab, until } from './engine.ts';
import { engines, useEngine } from './engines.ts';

const scope = 'read:user user:email read:org repo offline_access';

/**
 * The reaction of the page to a press: it sends the answer, asks for a second, or shows a line that was not yet in
 * view.
 */
type Verdict = 'sent' | 'too early' | 'unread';

/** Counts the presses on *Continue* that do not answer. */
const count = `void (document.title = '0', addEventListener('click', ({ target }) => {
  if (target.value !== 'confirmed') document.title = Number(document.title) + 1;
}))`;

for (const engine of engines) {
  describe(`the question about a program in ${engine.name}`, () => {
    const program = askingProgram({ scope, pages: { '/attack': '<button>Free sample</button>' } });
    const { openTab, popup } = useEngine(engine);

    async function asked(width: number, height: number): Promise<Tab> {
      const tab = await openTab();
      await tab.open(await program().question());
      await tab.shows('h1', 'Let a program log in as you?');
      await tab.resize(width, height);
      // WebKitGTK reports the size of the window later, and the window has bars.
      await until('the page has its size', async () => {
        const inner = Number(await tab.value('innerHeight'));
        return inner <= height && inner > height - 200;
      });
      await tab.value(count);
      return tab;
    }

    /** The question in a window that another site has changed before. */
    async function attacked(...changes: readonly string[]): Promise<Tab> {
      const attacker = await openTab();
      await attacker.open(`${program().relay.provider.origin}/attack`);
      await attacker.value(`void (document.querySelector('button').onclick = () => {
        window.opened = open('about:blank', 'attack', 'width=420,height=300');
      })`);
      const tab = await popup(() => attacker.click('button'));
      for (const change of changes) {
        await attacker.value(`void opened.${change}`);
        await until('the window has changed', () => isSettled(tab));
      }
      await attacker.value(`void (opened.location = ${JSON.stringify(await program().question())})`);
      await tab.shows('h1', 'Let a program log in as you?');
      await tab.value(count);
      return tab;
    }

    /** Whether the window has its place and size for a second. Some engines change them later, or not at all. */
    async function isSettled(tab: Tab): Promise<boolean> {
      const place = 'String([screenX, screenY, outerWidth, outerHeight, innerWidth, innerHeight])';
      const before = await tab.value(place);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return (await tab.value(place)) === before;
    }

    /** Presses *Continue* as a person does who uses the keyboard, after a second. */
    async function pressContinue(tab: Tab): Promise<Verdict> {
      const isTooEarly = () => tab.value(`!document.querySelector('#too-early').hidden`);
      const before = Number(await tab.value('document.title'));
      await new Promise((resolve) => setTimeout(resolve, 1200));
      // After a press that was too early, *Continue* still has the focus.
      if (!(await isTooEarly())) await tab.press('Tab');
      await tab.press('Enter');
      let isSent = false;
      await until('the page takes the press, or says why it does not', async () => {
        isSent = new URL(await tab.url()).searchParams.has('code');
        return isSent || Number(await tab.value('document.title')) > before;
      });
      if (isSent) return 'sent';
      return (await isTooEarly()) ? 'too early' : 'unread';
    }

    /**
     * The reaction once the page is quiet, because a busy machine may tell the page of its size or its window later.
     */
    async function pressInTime(tab: Tab): Promise<Verdict> {
      let verdict = await pressContinue(tab);
      for (let presses = 1; presses < 20 && verdict === 'too early'; presses += 1) verdict = await pressContinue(tab);
      return verdict;
    }

    it('takes the first press if all of it is in view', async () => {
      expect(await pressInTime(await asked(800, 1000))).to.equal('sent');
    });

    it('takes no first press in a low window, and shows what is left until all was in view', async () => {
      const tab = await asked(420, 300);
      expect(await pressInTime(tab)).to.equal('unread');
      await tab.shows('#unread', 'This was not in view yet.');
      let verdict: Verdict = 'unread';
      for (let presses = 0; presses < 30 && verdict !== 'sent'; presses += 1) verdict = await pressInTime(tab);
      expect(verdict).to.equal('sent');
    });

    it('is on the screen, though its opener has made the window wider than that', async () => {
      const tab = await attacked('resizeTo(2 * screen.availWidth - 80, screen.availHeight)');
      const isOnScreen = `(screen.availLeft ?? 0) + screen.availWidth - screenX >=
        document.querySelector('main').getBoundingClientRect().right`;
      await until('the whole question is on the screen', async () => (await tab.value(isOnScreen)) === true);
    });

    it('takes no press of what is below the screen, though its opener has made the window reach there', async () => {
      const tab = await attacked('moveTo(0, screen.availHeight)', 'resizeTo(420, 2 * screen.availHeight)');
      // Not every engine lets a page do that, and some do it later.
      const isOnScreen = () =>
        tab.value(`document.querySelector('main').getBoundingClientRect().bottom +
          screenY + outerHeight - innerHeight <= (screen.availTop ?? 0) + screen.availHeight`);
      const wasOnScreen = await isOnScreen();
      const verdict = await pressInTime(tab);
      const expected = (verdict === 'unread' ? await isOnScreen() : wasOnScreen) ? 'sent' : 'unread';
      expect(verdict).to.equal(expected);
    });
  });
}
