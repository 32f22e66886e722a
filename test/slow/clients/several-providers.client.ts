import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ada, eve, ProvidersRelay } from '../../browsers/support/providers-relay.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { DocumentedPrograms, withoutIntrospection } from './support/documented-programs.ts';
import { openFirstSdk, openMcpRemote, openSecondSdk } from './support/mcp-clients.ts';

const clients = { 'the MCP SDK 1': openFirstSdk, 'the MCP SDK 2': openSecondSdk, 'mcp-remote': openMcpRemote };

describe('an MCP server with several providers, which also opens to browsers', () => {
  let relay: ProvidersRelay;
  let servers: DocumentedPrograms;
  let origin = '';
  let home: string;

  before('start them', async () => {
    const port = await freePort();
    relay = await ProvidersRelay.start();
    origin = `http://localhost:${relay.port}`;
    await relay.restart(
      relay.file({
        url: `${origin}/`,
        more: `upstream: 'http://127.0.0.1:${port}/'`,
        frontEnds:
          '  tools: { kind: native, refresh-tokens: bearer, clients: { registration: true }, resources: [wiki] }\n',
      }),
    );
    relay.provider.knows(json(ada));
    relay.second.knows(json(eve));
    servers = await DocumentedPrograms.create();
    await servers.serve('mcp.js', { relay: relay.address, port, change: withoutIntrospection });
  });
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'login-relay-'));
  });
  afterEach(() => rmSync(home, { recursive: true }));
  after('stop them', async () => {
    await servers.stop();
    await relay.stop();
  });

  for (const [client, open] of Object.entries(clients)) {
    it(`lets ${client} log in at the first provider, as it is published, and lets people choose the other provider`, async () => {
      const logins: URL[] = [];
      const visit = async (start: URL) => {
        logins.push(start);
        return await relay.visit(start.href);
      };
      const session = await open({ rig: { visit }, url: `${origin}/mcp`, home });
      try {
        expect(await session.call()).to.equal('You are provider:42');
        expect(logins.map(({ pathname }) => pathname)).to.deep.equal(['/auth/provider']);
        const person = relay.person(relay.port);
        await person.press(await person.visit(`${origin}/mcp`), 'provider', 'second');
        const seen = await person.open(`${origin}/.login-relay/user`);
        expect(JSON.parse(`${seen.body}`)).to.include({ sub: 'second:42' });
        expect(await session.call()).to.equal('You are provider:42');
      } finally {
        await session.close();
      }
    });
  }
});
