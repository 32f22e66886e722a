import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { type Logger, pino, stdTimeFunctions } from 'pino';
import { isReadByJournal, withPriority } from './systemd-journal.ts';

const standardOutput = 1;
/** The most bytes that wait for a slow reader, besides those in the pipe. */
const mostWaitingBytes = 1024 * 1024;
/** Milliseconds after which `flush` no longer waits for a slow reader. */
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
  // Loaded only if the lines are for people.
  const formatForPeople = format === 'pretty' ? (await import('./pretty-log.ts')).formatForPeople : undefined;
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
        const text = formatForPeople?.(line) ?? line;
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
 * Opens a file descriptor for the log. Writing never blocks or throws. A line that cannot be written is dropped.
 *
 * @param reportLost called with the number of lines that were dropped so far, once lines can be written again
 */
function openOutput(
  descriptor: number,
  format: (line: string, level: number) => string,
  reportLost: (lines: number) => void,
) {
  const kind = fstatSync(descriptor);
  const sink = kind.isFIFO() || kind.isSocket() ? createPipeSink(descriptor) : createFileSink(descriptor);
  let lostLines = 0;
  let reportedLines = 0;
  return {
    // With this property, pino sets `lastLevel` before each write.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string): void {
      const isWritten = sink.write(format(line, this.lastLevel));
      if (!isWritten) {
        lostLines += 1;
        return;
      }
      if (lostLines === reportedLines) return;
      // This must come first, because `reportLost` writes a line.
      reportedLines = lostLines;
      reportLost(lostLines);
    },
    flush: sink.flush,
  };
}

interface Sink {
  /** @returns whether the line was accepted */
  write(line: string): boolean;
  /**
   * Writes the gathered lines before it returns, unless the pipe is full: `endOnUncaughtErrors` exits right afterwards.
   * Calls back once everything is written, or after a second.
   */
  flush(done: () => void): void;
}

/** Writes through a socket of Node.js, because a direct write to a full pipe would block the process. */
function createPipeSink(descriptor: number): Sink {
  const socket = new Socket({ fd: descriptor, readable: false, writable: true });
  let isFull = false;
  let isGathering = false;
  let gathered = '';
  const writeGathered = (done?: () => void) => {
    socket.write(gathered, done);
    gathered = '';
  };
  /** Writes the gathered lines, and repeats until none are left. */
  const writeRegularly = () => {
    isGathering = gathered !== '';
    if (!isGathering) return;
    writeGathered();
    setTimeout(writeRegularly, gatheringTime);
  };
  socket.unref();
  socket.on('drain', () => {
    isFull = false;
  });
  // The reader is gone, so every further line is dropped.
  socket.on('error', () => {});
  return {
    write(line) {
      isFull ||= socket.writableLength > mostWaitingBytes;
      if (isFull || socket.destroyed) return false;
      gathered += line;
      if (!isGathering) writeRegularly();
      return true;
    },
    flush(done) {
      if (socket.destroyed) return done();
      const deadline = setTimeout(done, flushDeadline);
      writeGathered(() => {
        clearTimeout(deadline);
        done();
      });
    },
  };
}

/** Writes at once. A full disk may accept only a part of a line. Then the next line begins with a line break. */
function createFileSink(descriptor: number): Sink {
  let endsInsideLine = false;
  return {
    write(line) {
      const bytes = Buffer.from(endsInsideLine ? `\n${line}` : line);
      try {
        const written = writeSync(descriptor, bytes);
        if (written > 0) endsInsideLine = written < bytes.length;
        return written === bytes.length;
      } catch {
        return false;
      }
    },
    flush: (done) => done(),
  };
}
