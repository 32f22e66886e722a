import type { Secret } from '../sealing/secret.ts';
import { hostInUrl } from '../urls.ts';

/** The address of a shared memory: one server, or several under Sentinel or in a Cluster. */
interface Address {
  readonly kind: 'server' | 'socket' | 'sentinel' | 'cluster';
  readonly tls: boolean;
  readonly user: string | undefined;
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  /** The number of the database, the path of the socket, or the name of the primary. */
  readonly name: string;
}

/** How the server of the shared memory is reached. */
export interface RedisSettings {
  readonly address: string;
  readonly password?: Secret | undefined;
  readonly ca?: string | undefined;
}

/** Milliseconds for one attempt to connect. */
const connectTime = 1_000;
/** Milliseconds after which a silent connection counts as lost. */
const silence = 5_000;
const pingInterval = 2_000;
const reconnectTime = 100;
const ports = { server: 6379, socket: 0, sentinel: 26_379, cluster: 6379 } as const;

const addressForm =
  /^redis(?<tls>s?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<user>[\w.-]+)@)?(?<nodes>[^@/?#]+)(?:\/(?<name>[\w.-]*))?$/;

/**
 * Parses the address of a shared memory: `redis://`, `rediss://`, `unix:/path`, `redis+sentinel://h1,h2/name` or
 * `redis+cluster://h1,h2`.
 *
 * @returns undefined if the text is no such address, or contains a password
 */
export function parseMemoryAddress(text: string): Address | undefined {
  if (text.startsWith('unix:/')) {
    const path = text.slice('unix:'.length);
    return { kind: 'socket', tls: false, user: undefined, nodes: [], name: path };
  }
  const { tls, kind: writtenKind, user, nodes: nodeList = '', name = '' } = addressForm.exec(text)?.groups ?? {};
  const kind = writtenKind === 'sentinel' || writtenKind === 'cluster' ? writtenKind : 'server';
  const nodes = nodeList.split(',').map((node) => parseNode(node, ports[kind]));
  const areNodesValid = nodes.every((node) => node !== undefined) && (kind !== 'server' || nodes.length === 1);
  if (!areNodesValid || !isValidName[kind](name)) return undefined;
  return { kind, tls: tls === 's', user, nodes, name };
}

/** Whether the name in an address is valid: of the primary, none, or the number of the database. */
const isValidName: Readonly<Record<'sentinel' | 'cluster' | 'server', (name: string) => boolean>> = {
  sentinel: (name) => name !== '',
  cluster: (name) => name === '',
  server: (name) => /^\d*$/.test(name),
};

/** Parses the host and port of a server. @returns undefined if the text has another form */
function parseNode(text: string, defaultPort: number): Address['nodes'][number] | undefined {
  const url = URL.parse(`redis://${text}`);
  if (url === null || url.pathname !== '' || url.hostname === '') return undefined;
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || defaultPort) };
}

/** Describes an address for people: the hosts and ports, or the path of the socket. Never a password. */
export function describeServers(address: string): string {
  const { kind, nodes = [], name = '' } = parseMemoryAddress(address) ?? {};
  if (kind === 'socket') return name;
  return nodes.map(({ host, port }) => `${hostInUrl(host)}:${port}`).join(', ');
}

/** The common part of the library's three clients. */
interface LibraryClient {
  readonly isOpen: boolean;
  connect(): Promise<unknown>;
  destroy(): void | Promise<void>;
  on(event: string, listener: (error: unknown) => void): unknown;
}

/** A client of one server, of the primary that Sentinel names, or of a Cluster. */
export type RedisClient = ReturnType<typeof wrapClient>;

/**
 * Gives a client of the library the interface that the relay needs.
 *
 * @param lossEvents the events after which the server may have lost its data, if `isLoss` agrees
 */
function wrapClient(
  client: LibraryClient,
  run: (words: readonly string[]) => Promise<unknown>,
  lossEvents: readonly string[],
  isLoss = (_event: unknown): boolean => true,
) {
  return {
    open: () => client.connect(),
    isOpen: () => client.isOpen,
    /** Runs a command on one key. */
    run,
    /** Reports each error, each lost connection, and each change of the server. */
    onLoss(report: (error: unknown) => void): void {
      for (const name of lossEvents) client.on(name, (event) => isLoss(event) && report(event));
    },
    async close(): Promise<void> {
      if (client.isOpen) await client.destroy();
    },
  };
}

/** Whether the library may send a command to a replica. A replica lags behind, so an ended login could still seem good. */
const mayUseReplica = false;

/** The key of a command: the second word, or the fourth word of a script. */
const keyOf = (words: readonly string[]) => words[words[0] === 'EVAL' ? 3 : 1];

/** Creates a client that is not connected yet. Loads its library, which only relays with a shared memory need. */
export async function createRedisClient(settings: RedisSettings): Promise<RedisClient> {
  const { address, password, ca } = settings;
  const { createClient, createCluster, createSentinel } = await import('@redis/client');
  const parsed = parseMemoryAddress(address);
  if (parsed === undefined) throw new Error('the address of the shared memory was not checked');
  const { kind, tls, user, nodes, name } = parsed;
  const socket = {
    connectTimeout: connectTime,
    socketTimeout: silence,
    reconnectStrategy: () => reconnectTime * (1 + Math.random()),
    ...(tls ? { tls: true as const, ...(ca !== undefined && { ca }) } : {}),
  };
  const options = {
    ...(user && { username: user }),
    ...(password && { password: password.reveal() }),
    pingInterval,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled' as const,
  };
  if (kind === 'sentinel') {
    const client = createSentinel({
      name,
      sentinelRootNodes: [...nodes],
      nodeClientOptions: { ...options, socket },
      sentinelClientOptions: { socket },
      scanInterval: 1_000,
      maxCommandRediscovers: 1,
    });
    const lossEvents = ['error', 'client-error', 'topology-change'];
    const run = (words: readonly string[]) => client.sendCommand(mayUseReplica, [...words]);
    return wrapClient(client, run, lossEvents, concernsPrimary);
  }
  if (kind === 'cluster') {
    const client = createCluster({
      rootNodes: nodes.map(({ host, port }) => ({ socket: { ...socket, host, port } })),
      defaults: { ...options, socket },
    });
    const run = async (words: readonly string[]) => {
      try {
        return await client.sendCommand(keyOf(words), mayUseReplica, [...words]);
      } catch (error) {
        // The client reads which node has which slot only when it connects. If no node had the key's slot then, the
        // library throws a TypeError. The next probe of the relay connects again.
        if (error instanceof TypeError && client.isOpen) client.destroy();
        throw error;
      }
    };
    return wrapClient(client, run, ['error', 'node-error', 'node-disconnect']);
  }
  const [node] = nodes;
  const client = createClient({
    ...options,
    socket: kind === 'socket' ? { ...socket, tls: false, path: name } : { ...socket, ...node },
    ...(kind === 'server' && name !== '' && { database: Number(name) }),
  });
  const run = (words: readonly string[]) => client.sendCommand(words);
  const connect = async () => {
    await client.connect();
    // A node of a Cluster has only some of the keys. If this user may not send HELLO, the first key that the server does
    // not have will reveal such a node.
    const hello = JSON.stringify(await client.sendCommand(['HELLO']).catch(() => '')) ?? '';
    if (!/"mode"[:,]"cluster"/.test(hello)) return;
    client.destroy();
    throw new Error('CLUSTER the server is a node of a Cluster');
  };
  return { ...wrapClient(client, run, ['error', 'reconnecting']), open: connect };
}

/**
 * Whether an event of the Sentinel client concerns the primary. Sentinels and replicas hold no data that the relay
 * needs.
 */
function concernsPrimary(event: unknown): boolean {
  const text = event instanceof Error ? event.message : JSON.stringify(event);
  return /^Master Client|"type":"MASTER/.test(text);
}
