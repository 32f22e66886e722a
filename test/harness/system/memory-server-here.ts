import type { Socket } from 'node:net';
import { serveTcp } from '../provider/serve.ts';
import { freePort } from './free-port.ts';

/** A reply in RESP: text, a number, a list, nothing, or an error. */
type Reply = string | number | null | Error | readonly Reply[];

/** A server in this process that speaks as much of the Redis protocol as the relay does. */
export class MemoryServerHere {
  /**
   * Replaces the reply to every command except the greeting, if it returns a reply. With `never`, there is no reply.
   */
  instead: (words: readonly string[]) => Reply | 'never' | undefined = () => undefined;
  /** Milliseconds until a reply. */
  delay = 0;
  now = Date.now;
  readonly values = new Map<string, { text: string; end: number }>();
  readonly commands: string[] = [];
  port = 0;
  /** Closes the port and every connection. */
  stop = async (): Promise<void> => {};

  static async start(): Promise<MemoryServerHere> {
    const server = new MemoryServerHere();
    // A port that no other server takes while this server is stopped.
    await server.listen(await freePort());
    return server;
  }

  get address(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async listen(port: number): Promise<void> {
    this.port = port;
    this.stop = (await serveTcp((socket) => this.#serve(socket), port)).close;
  }

  #serve(socket: Socket): void {
    let rest = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      rest += text;
      for (let read = readCommand(rest); read !== undefined; read = readCommand(rest)) {
        rest = rest.slice(read.length);
        const reply = this.#answer(read.words);
        if (reply !== 'never') setTimeout(() => socket.write(encoded(reply)), this.delay);
      }
    });
  }

  #answer(words: readonly string[]): Reply | 'never' {
    const [name = '', ...given] = words;
    if (name === 'HELLO') return ['server', 'redis', 'version', '7.0.0', 'role', 'master'];
    const instead = this.instead(words);
    if (instead !== undefined) return instead;
    this.commands.push(name);
    return this.#run(name, given);
  }

  #run(name: string, given: readonly string[]): Reply {
    const [key = '', text = ''] = given;
    const known = this.#get(name === 'EVAL' ? (given[2] ?? '') : key);
    const lifetime = Number(given.at(-1));
    if (name === 'PING') return 'PONG';
    if (name === 'GET') return known?.text ?? null;
    if (name === 'DEL') return this.values.delete(key) ? 1 : 0;
    if (name === 'PTTL') return known ? known.end - this.now() : -2;
    if (name === 'SET') {
      const isTaken = given.includes('NX') && known !== undefined;
      if (!isTaken) this.#set(key, text, lifetime);
      if (given.includes('GET')) return known?.text ?? null;
      return isTaken ? null : 'OK';
    }
    const [script = '', , target = '', before = '', after = ''] = given;
    if (name !== 'EVAL') return new Error(`ERR unknown command '${name}'`);
    if (script.startsWith('if')) {
      if (known?.text !== before) return null;
      this.#set(target, after, lifetime);
      return 'OK';
    }
    if (script.startsWith('local v')) {
      if (Number(known?.text.split(' ')[0]) > Number(after)) return known?.text ?? null;
      this.#set(target, before, lifetime);
      return before;
    }
    if (!script.startsWith('local n')) return 1;
    const end = known?.end ?? this.now() + lifetime;
    const count = Number(known?.text ?? 0) + Number(before);
    this.values.set(target, { text: `${count}`, end });
    return [count, end - this.now()];
  }

  #get(key: string) {
    const known = this.values.get(key);
    return known !== undefined && known.end > this.now() ? known : undefined;
  }

  #set(key: string, text: string, lifetime: number): void {
    this.values.set(key, { text, end: this.now() + lifetime });
  }
}

/** @returns undefined if the command is incomplete */
function readCommand(bytes: string): { words: string[]; length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(bytes);
  if (head === null) return undefined;
  const words: string[] = [];
  let at = head[0].length;
  for (let left = Number(head[1]); left > 0; left -= 1) {
    const word = /^\$(\d+)\r\n/.exec(bytes.slice(at, at + 20));
    if (word === null) return undefined;
    at += word[0].length;
    const end = at + Number(word[1]);
    if (bytes.length < end + 2) return undefined;
    words.push(bytes.slice(at, end));
    at = end + 2;
  }
  return { words, length: at };
}

function encoded(reply: Reply): string {
  if (reply === null) return '_\r\n';
  if (reply instanceof Error) return `-${reply.message}\r\n`;
  if (typeof reply === 'number') return `:${Math.round(reply)}\r\n`;
  if (typeof reply === 'string') return `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`;
  // The greeting is a map.
  if (reply[0] === 'server') return `%${reply.length / 2}\r\n${reply.map(encoded).join('')}`;
  return `*${reply.length}\r\n${reply.map(encoded).join('')}`;
}
