import { createLasting } from './recent.ts';

/** Commands that are sent together before their replies are awaited: the time limit of each begins when it is sent. */
const batchSize = 256;
const mostOwed = 4096;

/** A command on one name. */
export interface Command {
  readonly words: readonly string[];
  /** Milliseconds: the last word of the command, if it takes one. */
  readonly lifetime?: number | undefined;
}

/** The words of a command, with its lifetime. */
export const wordsOf = ({ words, lifetime }: Command): readonly string[] =>
  lifetime === undefined ? words : [...words, `${Math.max(1, Math.ceil(lifetime))}`];

/**
 * What a server has to be told when it comes back: it may have lost what this relay knows, and has missed what this relay
 * has learned meanwhile.
 *
 * @param send sends a command at once. Gives whether the server has answered
 */
export function createBacklog(send: (words: readonly string[]) => Promise<boolean>) {
  const lists: (() => Command[])[] = [];
  /** Failed commands, by their names. */
  const owed = createLasting<Command>(mostOwed, () => performance.now());

  async function pay(name: string, command: Command, left: number): Promise<boolean> {
    const { words, lifetime = left } = command;
    const isAnswered = await send(command.lifetime ? wordsOf({ words, lifetime: Math.min(lifetime, left) }) : words);
    if (isAnswered && owed.get(name) === command) owed.delete(name);
    return isAnswered;
  }

  /** What has to be sent, without the commands that `told` has. Adds them to `told`. */
  function untold(told: Set<string>): (() => Promise<boolean>)[] {
    const isNew = ({ words }: Command) => told.size < told.add(JSON.stringify(words)).size;
    const debts = owed.all().filter(({ value }) => isNew(value));
    const known = lists.flatMap((list) => list()).filter(isNew);
    // What is owed comes first: what this relay knows may be newer.
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
     * Owes a command unless the server answers it. A later command on the same name takes its place.
     *
     * @param left milliseconds for which the command has a purpose
     */
    async oweUnless(answer: Promise<unknown>, name: string, command: Command, left: number): Promise<void> {
      owed.delete(name);
      if ((await answer) === undefined) owed.set(name, command, left);
    },
    /** Tells everything that is not in `told`, in batches. @returns whether the server has answered each command */
    async tell(told: Set<string>): Promise<boolean> {
      const commands = untold(told);
      for (let begin = 0; begin < commands.length; begin += batchSize) {
        const answers = await Promise.all(commands.slice(begin, begin + batchSize).map((run) => run()));
        if (answers.includes(false)) return false;
      }
      return true;
    },
    /** As `tell`, but everything is sent when this returns. */
    async tellAtOnce(told: Set<string>): Promise<boolean> {
      const answers = await Promise.all(untold(told).map((run) => run()));
      return !answers.includes(false);
    },
  };
}
