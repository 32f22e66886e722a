import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { diagnoseHere } from '../../check/support/check.ts';
import { endpointsAt } from '../../check/support/provider.ts';
import type { Flags } from '../../harness/relay/relay-process.ts';
import { keyFile, secretFile } from '../../harness/relay/relay-under-test.ts';
import { certificateFiles } from '../../harness/system/certificate.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { MemoryServer, memoryProgram } from '../../harness/system/memory-server.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { logged, refreshAtTwo } from './support/contention.ts';
import { Relays, slowly } from './support/relays.ts';

const { describe } = needsPrograms(memoryProgram);
const password = 'correct horse battery staple';
const passwordOfUser = 'correct-horse-battery-staple';

async function expectShared(flags: Flags): Promise<void> {
  const relays = await Relays.start(2, flags);
  try {
    await relays.share();
    slowly(relays.provider);
    expect(await refreshAtTwo(relays)).to.equal(1);
  } finally {
    await relays.stop();
  }
}

/** The report of `login-relay check` about the shared memory. */
async function checked(more: Flags): Promise<string> {
  const flags = { 'key-file': await keyFile(), ...endpointsAt('http://127.0.0.1:1'), ...more };
  const { verdict, message, fix } = (await diagnoseHere({ flags })).finding('shared memory');
  return `${verdict}: ${message}${fix ? ` → ${fix}` : ''}`;
}

describe('relays reach their shared memory', () => {
  const servers: MemoryServer[] = [];
  const start = async (...words: string[]): Promise<MemoryServer> => {
    const server = await MemoryServer.start(...words);
    servers.push(server);
    return server;
  };
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

  it('over TCP', async () => {
    const server = await start();
    const flags = { 'shared-memory': server.address };
    await expectShared(flags);
    expect(await checked(flags)).to.match(/^ok: version [\d.]+, master, answers in \d+ ms$/);
  });

  it('through a Unix socket', async () => {
    const server = await start('--port', '0');
    await expectShared({ 'shared-memory': `unix:${server.socket}` });
  });

  it('with a user who has exactly the permissions that the manual names', async () => {
    const server = await start();
    await server.run(await manualRights(), ['SET', 'of-others', 'secret']);
    const flags = {
      'shared-memory': `redis://relay@127.0.0.1:${server.port}`,
      'shared-memory-password-file': await secretFile(passwordOfUser),
    };
    await expectShared(flags);
    expect(await checked(flags)).to.match(/^ok: /);
    await server.run(['ACL', 'SETUSER', 'relay', '-eval']);
    expect(await checked(flags)).to.match(/^problem: 127\.0\.0\.1:\d+ does not let this user run all commands.*NOPERM/);
  });

  it('and are advised to start it if it is not there', async () => {
    const address = `redis://127.0.0.1:${await freePort()}`;
    const { host } = new URL(address);
    expect(await checked({ 'shared-memory': address })).to.match(
      new RegExp(`^problem: ${host} cannot be reached \\(ECONNREFUSED\\) → start it, or `),
    );
  });

  it('and name where it should be, without its user', async () => {
    const socket = '/nowhere/redis.sock';
    const first = `127.0.0.1:${await freePort()}`;
    const second = `127.0.0.1:${await freePort()}`;
    for (const [address, shown] of [
      [`redis://relay@${first}/3`, first],
      [`redis+cluster://relay@${first},${second}`, `${first}, ${second}`],
      [`redis+sentinel://${first}/main`, first],
      [`unix:${socket}`, socket],
    ]) {
      const said = await checked({ 'shared-memory': address });
      expect(said.startsWith(`problem: ${shown} cannot be reached (`), said).to.equal(true);
      expect(said).not.to.contain('relay@');
    }
  });

  it('with a password, and say what is wrong with another password', async () => {
    const server = await start('--requirepass', password);
    const passwordFile = await secretFile(password);
    const flags = { 'shared-memory': server.address, 'shared-memory-password-file': passwordFile };
    expect(await checked(flags)).to.match(/^ok: /);
    expect(await checked({ 'shared-memory': server.address })).to.match(/NOAUTH/);
    const wrong = { ...flags, 'shared-memory-password-file': await secretFile('wrong') };
    expect(await checked(wrong)).to.match(/^problem: 127\.0\.0\.1:\d+ refuses the user or the password \(WRONGPASS\)/);
    const relays = await Relays.start(1, wrong);
    const line = await relays.at(0).process.logLine(({ msg }) => `${msg}`.startsWith('shared memory cannot be used'));
    expect(line).to.have.property('reason', 'WRONGPASS');
    expect(line?.['msg']).to.match(/correct the user or the password$/);
    expect(relays.at(0).process.stdout).to.not.include('wrong');
    await relays.stop();
  });

  it('over TLS, if they know its authority', async () => {
    const { cert, key, authority, remove } = await certificateFiles('localhost');
    const tlsPort = `${await freePort()}`;
    const tls = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-auth-clients', 'no'];
    await start('--port', '0', '--tls-port', tlsPort, ...tls);
    const flags = {
      'shared-memory': `rediss://localhost:${tlsPort}`,
      'shared-memory-ca': await secretFile(authority),
    };
    await expectShared(flags);
    expect(await checked(flags)).to.match(/^ok: /);
    const unknown = { 'shared-memory': `rediss://localhost:${tlsPort}` };
    expect(await checked(unknown)).to.match(/^problem: localhost:\d+ cannot be reached \((SELF_SIGNED|UNABLE_TO)/);
    await remove();
  });

  it('in a Cluster of three nodes, from any of them, with keys at each', async () => {
    const nodes = [await startNode(), await startNode(), await startNode()];
    await join(nodes);
    const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`);
    // Each node leads to the two other nodes, and so does a list whose first node is stopped.
    for (const named of [...hosts, `127.0.0.1:${await freePort()},${hosts[2]}`]) {
      const flags = { 'shared-memory': `redis+cluster://${named}` };
      await expectShared(flags);
      expect(await checked(flags)).to.match(/^ok: /);
    }
    // Chance says where the keys of a login are.
    await eventually(async () => {
      await expectShared({ 'shared-memory': `redis+cluster://${hosts[0]}` });
      for (const node of nodes) expect(await node.content(), `${node.port}`).not.to.deep.equal([]);
    });
    for (const node of nodes) {
      const said = await checked({ 'shared-memory': node.address });
      expect(said).to.match(/^problem: .*Cluster.* → .*redis\+cluster:/);
    }
  });

  /** Starts a node that belongs to no Cluster yet. */
  async function startNode(): Promise<MemoryServer> {
    // The default is 10,000 above its port, which outgoing connections may use while the server is stopped.
    return await start('--cluster-enabled', 'yes', '--cluster-port', `${await freePort()}`);
  }

  /** Makes the nodes one Cluster, with a part of the slots at each. */
  async function join(nodes: readonly MemoryServer[]): Promise<void> {
    const slots = 16_384;
    for (const [index, node] of nodes.entries()) {
      const firstSlot = Math.floor((index * slots) / nodes.length);
      const nextSlot = Math.floor(((index + 1) * slots) / nodes.length);
      await node.run(['CLUSTER', 'ADDSLOTSRANGE', `${firstSlot}`, `${nextSlot - 1}`]);
      const [first] = nodes;
      const [, bus] = /:\d+@(\d+)/.exec(`${(await first?.run(['CLUSTER', 'NODES']))?.[0]}`) ?? [];
      if (node !== first) await node.run(['CLUSTER', 'MEET', '127.0.0.1', `${first?.port}`, `${bus}`]);
    }
    for (const node of nodes) {
      await eventually(async () => {
        const [info] = await node.run(['CLUSTER', 'INFO']);
        expect(`${info}`).to.include('cluster_state:ok').and.include(`cluster_known_nodes:${nodes.length}`);
      });
    }
  }

  it('in a Cluster that does not answer for a while, as a user with few permissions', async () => {
    const server = await startNode();
    await join([server]);
    const rights = [...(await manualRights()), '+cluster|slots'];
    await server.run(rights);
    const flags = {
      'shared-memory': `redis+cluster://relay@127.0.0.1:${server.port}`,
      'shared-memory-password-file': await secretFile(passwordOfUser),
    };
    await expectShared(flags);
    expect(await checked(flags)).to.match(/^ok: /);
    await server.kill();
    const relays = await Relays.start(2, flags);
    try {
      slowly(relays.provider);
      await logged(relays, 'shared memory is away');
      await server.start();
      await server.run(rights);
      await logged(relays, 'shared memory is back');
      expect(await refreshAtTwo(relays)).to.equal(1);
    } finally {
      await relays.stop();
    }
  });

  it('through Sentinel', async () => {
    const primary = await start();
    const sentinel = await MemoryServer.sentinelOf(primary);
    servers.push(sentinel);
    const flags = { 'shared-memory': `redis+sentinel://127.0.0.1:${sentinel.port}/main` };
    expect(await checked(flags)).to.match(/^ok: .*master/);
    await expectShared(flags);
  });

  it('only if it can be written', async () => {
    const primary = await start();
    const replica = await start('--replicaof', `127.0.0.1 ${primary.port}`);
    await eventually(async () => {
      const [info] = await replica.run(['INFO', 'replication']);
      expect(`${info}`).to.include('master_link_status:up');
    });
    expect(await checked({ 'shared-memory': replica.address })).to.match(
      /^problem: 127\.0\.0\.1:\d+ cannot be written: it is a replica \(READONLY\) /,
    );
  });
});

/** The command of the manual that makes the user of the relays, with a password. */
async function manualRights(): Promise<string[]> {
  const manual = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  const command = /^ACL SETUSER .*$/m.exec(manual)?.[0] ?? expect.fail('the manual has no rights');
  return command.replace('PASSWORD', passwordOfUser).split(' ');
}
