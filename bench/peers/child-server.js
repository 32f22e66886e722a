import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** A directory for the files of a server. It is removed when this process ends. */
export function ownDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'login-relay-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/** Starts a server, and stops it when this process is told to stop. @returns its process */
export function startChild(command, args, stdout = 'ignore') {
  const child = spawn(command, args, { stdio: ['ignore', stdout, 'inherit'] });
  process.on('exit', () => child.kill('SIGKILL'));
  process.once('SIGTERM', () => child.kill('SIGTERM'));
  child.once('exit', () => process.exit());
  return child;
}

/** Writes the configuration of a server, starts it, and writes its address once it listens. */
export async function serveBy(command, args, port, file, configuration) {
  writeFileSync(file, configuration);
  startChild(command, args);
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const listens = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (listens) break;
    await wait(20);
  }
  process.stdout.write(`"address":"http://127.0.0.1:${port}"\n`);
}
