import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { DestinationStream } from 'pino';

/** Bytes that wait for a slow reader, besides those in the pipe. */
const longestBacklog = 1024 * 1024;
const flushDeadline = 1000;
/** Milliseconds for which lines are gathered after a write: every write wakes the reader. */
const gatheringTime = 10;

/** The output of the log. A line that cannot be written is lost. Writing never blocks or throws. */
export interface LogOutput extends DestinationStream {
  /** Calls back once everything is written, or after a second. */
  flush(done: () => void): void;
}

interface Sink extends Pick<LogOutput, 'flush'> {
  /** @returns whether the line was taken */
  write(line: string): boolean;
}

/**
 * Opens a file descriptor for the log.
 *
 * @param tellLost called with the number of lost lines, once lines can be written again
 */
export function openLogOutput(descriptor: number, tellLost: (lines: number) => void): LogOutput {
  const kind = fstatSync(descriptor);
  const sink = kind.isFIFO() || kind.isSocket() ? pipeSink(descriptor) : fileSink(descriptor);
  let lost = 0;
  let told = 0;
  return {
    write(line) {
      if (!sink.write(line)) lost += 1;
      else if (lost > told) {
        told = lost;
        tellLost(lost);
      }
    },
    flush: sink.flush,
  };
}

// A direct write to a full pipe would block the process.
function pipeSink(descriptor: number): Sink {
  const socket = new Socket({ fd: descriptor, readable: false, writable: true });
  let full = false;
  let gathering = false;
  let gathered = '';
  const send = (done?: () => void) => {
    socket.write(gathered, done);
    gathered = '';
  };
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
  // The reader is gone: every further line is lost.
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
      if (socket.destroyed) {
        done();
        return;
      }
      const deadline = setTimeout(done, flushDeadline);
      send(() => {
        clearTimeout(deadline);
        done();
      });
    },
  };
}

// A full disk may take a part of a line. Begin the next line on a new one.
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
