import { fstatSync } from 'node:fs';

/** The priorities of sd-daemon(3), such as `SD_WARNING`, by pino's level numbers. */
const priorities: Readonly<Record<number, number>> = { 60: 2, 50: 3, 40: 4, 30: 6, 20: 7 };
const informational = 6;

/** pino's level number, for lines that are written without a logger. */
export const errorLevel = 50;

/** Whether a file descriptor leads to systemd's journal. @see systemd.exec(5) */
export function isReadByJournal(descriptor: number, journalStream: string | undefined): boolean {
  if (!journalStream) return false;
  const { dev, ino } = fstatSync(descriptor, { bigint: true });
  return journalStream === `${dev}:${ino}`;
}

/** Prefixes each line with its priority. The journal removes the prefix. */
export function withPriority(level: number, text: string): string {
  return text.replaceAll(/^(?=.)/gm, `<${priorities[level] ?? informational}>`);
}
