import { createLasting } from './recent.ts';

/**
 * Commands in one batch. The next batch waits for their replies, because the time limit of a command starts when it is
 * sent.
 */
const batchSize = 256;
const mostOwed = 4096;

/** A command on one key. */
export interface Command {
  readonly words: readonly string[];
  /** Milliseconds: the last word of the command, if it has one. */
  readonly lifetime?: number | undefined;
}

export const wordsOf = ({ words, lifetime }: Command): readonly string[] =>
  lifetime === undefined ? words : [...words, `${Math.max(1, Math.ceil(lifetime))}`];

/**
 * Collects what to tell a server that is back: it may have lost what this relay knows, and has missed what this relay
 * learned meanwhile.
 *
 * @param send sends a command at once, and says whether the server answered
 */
export function createBacklog(send: (words: readonly string[]) => Promise<boolean>) {
  const lists: (() => Command[])[] = [];
  const owed = createLasting<Command>(mostOwed, () => performance.now());

  async function pay(name: string, command: Command, left: number): Promise<boolean> {
    const { words, lifetime = left } = command;
    const isAnswered = await send(command.lifetime ? wordsOf({ words, lifetime: Math.min(lifetime, left) }) : words);
    if (isAnswered && owed.get(name) === command) owed.delete(name);
    return isAnswered;
  }

  /** The commands that `told` does not contain yet. Adds them to it. */
  function takeUntold(told: Set<string>): (() => Promise<boolean>)[] {
    const isNew = ({ words }: Command) => {
      const text = JSON.stringify(words);
      if (told.has(text)) return false;
      told.add(text);
      return true;
    };
    const debts = owed.all().filter(({ value }) => isNew(value));
    const known = lists.flatMap((list) => list()).filter(isNew);
    // Failed commands come first, because what this relay knows may be newer.
    return [
      ...debts.map(
        ({ key, value, left }) =>
          () =>
            pay(key, value, left),
      ),
      ...known.map((command) => () => send(wordsOf(command))),
    ];
  }

  return {
    add: (list: () => Command[]) => lists.push(list),
    /**
     * Remembers a command unless the server answers it. A later command on the same key replaces it.
     *
     * @param left milliseconds after which the command has no purpose any more
     */
    async oweUnless(answer: Promise<unknown>, name: string, command: Command, left: number): Promise<void> {
      owed.delete(name);
      if ((await answer) === undefined) owed.set(name, command, left);
    },
    /** Sends everything that is not in `told`, in batches. @returns whether the server answered each command */
    async tell(told: Set<string>): Promise<boolean> {
      const commands = takeUntold(told);
      for (let begin = 0; begin < commands.length; begin += batchSize) {
        const answers = await Promise.all(commands.slice(begin, begin + batchSize).map((run) => run()));
        if (answers.includes(false)) return false;
      }
      return true;
    },
    /** As `tell`, but everything is sent when this function returns. */
    async tellAtOnce(told: Set<string>): Promise<boolean> {
      const answers = await Promise.all(takeUntold(told).map((run) => run()));
      return !answers.includes(false);
    },
  };
}
