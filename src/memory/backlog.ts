import { createExpiringMap } from './expiring-map.ts';

/**
 * The commands in one batch. The next batch waits for the replies, because the time limit of a command starts when it
 * is sent.
 */
const batchSize = 256;
const mostOwed = 4096;

/** A command on one key. */
export interface Command {
  readonly words: readonly string[];
  /** Milliseconds, which `writeCommand` adds as the last word. Undefined for a command without a lifetime. */
  readonly lifetime?: number | undefined;
}

/** Returns all words of a command. */
export const writeCommand = ({ words, lifetime }: Command): readonly string[] =>
  lifetime === undefined ? words : [...words, `${Math.max(1, Math.ceil(lifetime))}`];

/**
 * Collects the commands for a server that is back. It may have lost what this relay knows, and has missed the commands
 * that failed meanwhile.
 *
 * @param run runs a command at once, and says whether the server answered
 */
export function createBacklog(run: (words: readonly string[]) => Promise<boolean>) {
  const listers: (() => Command[])[] = [];
  const owed = createExpiringMap<Command>(mostOwed, () => performance.now());

  /** Runs a command that failed earlier, with the rest of its lifetime. */
  async function runOwed(name: string, command: Command, left: number): Promise<boolean> {
    const { words, lifetime } = command;
    const isAnswered = await run(lifetime ? writeCommand({ words, lifetime: Math.min(lifetime, left) }) : words);
    // A later command may have replaced this one meanwhile.
    if (isAnswered && owed.get(name) === command) owed.delete(name);
    return isAnswered;
  }

  /** Returns functions that run the commands which `sent` does not contain yet, and adds the commands to it. */
  function takeUnsent(sent: Set<string>): (() => Promise<boolean>)[] {
    /** @returns whether the command was unsent */
    const addIfUnsent = ({ words }: Command) => {
      const text = JSON.stringify(words);
      if (sent.has(text)) return false;
      sent.add(text);
      return true;
    };
    const owedNow = owed.all().filter(({ value }) => addIfUnsent(value));
    const known = listers.flatMap((listCommands) => listCommands()).filter(addIfUnsent);
    const runsOfOwed = owedNow.map((entry) => () => runOwed(entry.key, entry.value, entry.left));
    const runsOfKnown = known.map((command) => () => run(writeCommand(command)));
    // Failed commands come first, because what this relay knows may be newer.
    return [...runsOfOwed, ...runsOfKnown];
  }

  return {
    /** Adds a function that lists commands which write what this relay knows. */
    add: (listCommands: () => Command[]) => listers.push(listCommands),
    /**
     * Remembers a command unless the server answers it. A later command on the same key replaces it.
     *
     * @param answer what running the command results in; undefined without an answer
     * @param name the key that the command writes
     * @param left milliseconds after which the command has no purpose any more
     */
    async oweUnless(answer: Promise<unknown>, name: string, command: Command, left: number): Promise<void> {
      owed.delete(name);
      if ((await answer) === undefined) owed.set(name, command, left);
    },
    /** Sends all commands that are not in `sent`, in batches. @returns whether the server answered each command */
    async send(sent: Set<string>): Promise<boolean> {
      const runs = takeUnsent(sent);
      for (let start = 0; start < runs.length; start += batchSize) {
        const batch = runs.slice(start, start + batchSize);
        const areAnswered = await Promise.all(batch.map((runCommand) => runCommand()));
        if (areAnswered.includes(false)) return false;
      }
      return true;
    },
    /** As `send`, but in a single batch: all commands are sent before the call returns its promise. */
    async sendAtOnce(sent: Set<string>): Promise<boolean> {
      const areAnswered = await Promise.all(takeUnsent(sent).map((runCommand) => runCommand()));
      return !areAnswered.includes(false);
    },
  };
}
