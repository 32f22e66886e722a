import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { type Logger, pino, stdTimeFunctions } from 'pino';
import { isReadByJournal, withPriority } from './journal.ts';

const standardOutput = 1;
/** Bytes that wait for a slow reader, besides those in the pipe. */
const longestBacklog = 1024 * 1024;
const flushDeadline = 1000;
/** Milliseconds for which lines are gathered after a write, because every write wakes the reader. */
const gatheringTime = 10;

/**
 * Creates the logger of a process.
 *
 * @param settings.format `json` for one object a line, `pretty` for people. Default: `pretty` on a terminal, else
 *   `json`
 * @param settings.journalStream the variable `JOURNAL_STREAM`. Lines for the journal contain their priority
 */
export async function createLogger(settings: {
  readonly level: string;
  readonly format: 'pretty' | 'json' | undefined;
  readonly journalStream?: string | undefined;
}): Promise<Logger> {
  const format = settings.format ?? (process.stdout.isTTY ? 'pretty' : 'json');
  const forJournal = isReadByJournal(standardOutput, settings.journalStream);
  // Only needed on a terminal.
  const pretty = format === 'pretty' ? (await import('./pretty-log.ts')).prettyLine : undefined;
  const logger: Logger = pino(
    {
      level: settings.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    openOutput(
      standardOutput,
      (line, level) => {
        const text = pretty?.(line) ?? line;
        return forJournal ? withPriority(level, text) : text;
      },
      (lost) => logger.warn({ lost }, 'lines of the log were lost'),
    ),
  );
  return logger;
}

/** Resolves once every line is written, or after a second. */
export async function flushLog(logger: Logger): Promise<void> {
  await new Promise<void>((resolve) => logger.flush(() => resolve()));
}

/**
 * Opens a file descriptor for the log. Writing never blocks or throws; a line that cannot be written is dropped.
 *
 * @param tellLost called with the number of dropped lines, once lines can be written again
 */
function openOutput(
  descriptor: number,
  format: (line: string, level: number) => string,
  tellLost: (lines: number) => void,
) {
  const kind = fstatSync(descriptor);
  const sink = kind.isFIFO() || kind.isSocket() ? pipeSink(descriptor) : fileSink(descriptor);
  let lost = 0;
  let told = 0;
  return {
    // With this property, pino sets `lastLevel` before each write.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string): void {
      if (!sink.write(format(line, this.lastLevel))) lost += 1;
      else if (lost > told) {
        // This must come before `tellLost`, which writes a line.
        told = lost;
        tellLost(lost);
      }
    },
    flush: sink.flush,
  };
}

interface Sink {
  /** @returns whether the line was accepted */
  write(line: string): boolean;
  /** Calls back once everything is written, or after a second. */
  flush(done: () => void): void;
}

/** Writes through a socket of Node.js, because a direct write to a full pipe would block the process. */
function pipeSink(descriptor: number): Sink {
  const socket = new Socket({ fd: descriptor, readable: false, writable: true });
  let full = false;
  let gathering = false;
  let gathered = '';
  const send = (done?: () => void) => {
    socket.write(gathered, done);
    gathered = '';
  };
  /** Writes the gathered lines, and repeats until none are left. */
  const gather = () => {
    gathering = gathered !== '';
    if (!gathering) return;
    send();
    setTimeout(gather, gatheringTime);
  };
  socket.unref();
  socket.on('drain', () => {
    full = false;
  });
  // The reader is gone, so every further line is dropped.
  socket.on('error', () => {});
  return {
    write(line) {
      full ||= socket.writableLength > longestBacklog;
      if (full || socket.destroyed) return false;
      gathered += line;
      if (!gathering) gather();
      return true;
    },
    flush(done) {
      if (socket.destroyed) return done();
      const deadline = setTimeout(done, flushDeadline);
      send(() => {
        clearTimeout(deadline);
        done();
      });
    },
  };
}

/** Writes at once. A full disk may accept a part of a line. The next line then begins with a line break. */
function fileSink(descriptor: number): Sink {
  let torn = false;
  return {
    write(line) {
      const bytes = Buffer.from(torn ? `\n${line}` : line);
      try {
        const written = writeSync(descriptor, bytes);
        if (written > 0) torn = written < bytes.length;
        return written === bytes.length;
      } catch {
        return false;
      }
    },
    flush: (done) => done(),
  };
}
