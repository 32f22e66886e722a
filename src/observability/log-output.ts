import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { DestinationStream } from 'pino';

/** Bytes that wait for a slow reader, beside what the pipe itself holds. */
const longestBacklog = 1024 * 1024;
const flushDeadline = 1000;
/** Milliseconds after a write for which lines are gathered: each write of its own wakes the reader up. */
const gatheringTime = 10;

/** Where the log goes: a line that cannot be written is lost, and nothing blocks, throws or grows. */
export interface LogOutput extends DestinationStream {
  /** Calls back once everything is out, or a second later. */
  flush(done: () => void): void;
}

interface Sink extends Pick<LogOutput, 'flush'> {
  /** Takes a line; answers whether it could. */
  write(line: string): boolean;
}

/**
 * Opens a descriptor for the log.
 *
 * @param tellLost told how many lines were lost so far, once lines can be written again
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

// Written to directly, a pipe that nobody reads would stop the process once it is full.
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
  // The reader has gone: from now on every line is lost.
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

// A full disk takes nothing, or a part of a line: what comes next begins on a line of its own.
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
