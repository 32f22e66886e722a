/** The library `ws`, of which playwright-core contains a copy. */
declare module 'playwright-core/lib/utilsBundle' {
  import type { EventEmitter } from 'node:events';
  import type { IncomingMessage } from 'node:http';
  import type { Duplex } from 'node:stream';

  export class ws extends EventEmitter {
    constructor(url: string, protocols: readonly string[], options: object);
    readonly extensions: string;
    readonly protocol: string;
    send(data: string | Buffer): void;
    ping(data?: string): void;
    close(code?: number, reason?: string): void;
    terminate(): void;
  }

  export class wsServer extends EventEmitter {
    constructor(options: object);
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, then: (socket: ws) => void): void;
    close(): void;
    address(): { readonly port: number };
    readonly clients: ReadonlySet<ws>;
  }
}
