import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { memoryProgram } from '../../harness/system/memory-server.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { startedOnce } from '../../harness/system/started-once.ts';
import { startDocumentHost } from './support/document-host.ts';
import { type Given, openFirstSdk, openInspector, openMcpRemote, openSecondSdk } from './support/mcp-clients.ts';
import { ResourcesRig } from './support/resources-rig.ts';

const hour = 3_600_000;

/** How they start, and how many of ten calls ask for a refresh at once. */
const clients = {
  'the MCP SDK 1': [openFirstSdk, 10],
  'the MCP SDK 2': [openSecondSdk, 10],
  'mcp-remote': [openMcpRemote, 1],
  'the Inspector': [openInspector, 1],
} as const;
type Client = (typeof clients)[keyof typeof clients];
const doors = {
  notes: 'an MCP server behind Caddy',
  introspected: 'an MCP server that introspects',
} as const;

needsPrograms('caddy', memoryProgram).describe(
  'an MCP client as it is published, which knows only the address of its server,',
  () => {
    const rig = startedOnce('the MCP servers', ResourcesRig.start, (one) => one.stop());
    const host = startedOnce('the host of a document', startDocumentHost, (one) => one.stop());
    let home: string;
    beforeEach(() => {
      rig().forget();
      home = mkdtempSync(join(tmpdir(), 'login-relay-'));
    });
    afterEach(() => rmSync(home, { recursive: true }));

    for (const [name, client] of Object.entries(clients)) {
      for (const door of ['notes', 'introspected'] as const) {
        it(`is ${name}, at ${doors[door]}`, async () => {
          await expectOneLogin(client, { rig: rig(), url: rig().urls[door], home });
        });
      }
    }

    for (const name of ['the MCP SDK 1', 'the MCP SDK 2'] as const) {
      it(`is ${name} with a metadata document`, async () => {
        const { url: document } = host();
        await expectOneLogin(clients[name], { rig: rig(), url: rig().urls.notes, home, document });
        expect(rig().logins[0]?.searchParams.get('client_id')).to.equal(document);
      });
    }

    /** A client that has logged in calls its tool, also when the token has ended, and after a restart of the relays. */
    async function expectOneLogin([open, refreshes]: Client, given: Given) {
      const client = await open(given);
      try {
        expect(await client.call()).to.equal('You are 42');
        rig().relay.ahead += hour;
        rig().holdRefresh(refreshes);
        expect(await client.callAtOnce(10)).to.equal(10);
        expect(rig().refreshes).to.equal(1);
        await rig().restart();
        rig().relay.ahead += hour;
        expect(await client.call()).to.equal('You are 42');
        expect(rig().refreshes).to.equal(2);
        expect(rig().logins).to.have.lengthOf(1);
      } finally {
        await client.close();
      }
    }

    it('logs in again when the provider has ended the login, and registers again when that is over', async () => {
      const given = { rig: rig(), url: rig().urls.notes, home };
      const clientOf = async () => {
        const client = await openMcpRemote(given);
        try {
          expect(await client.call()).to.equal('You are 42');
        } finally {
          await client.close();
        }
        rig().relay.provider.revokeAll();
        return rig().logins.at(-1)?.searchParams.get('client_id');
      };
      const first = await clientOf();
      rig().relay.ahead += hour;
      expect(await clientOf()).to.equal(first);
      expect(rig().logins).to.have.lengthOf(2);
      rig().relay.ahead += 91 * 24 * hour;
      expect(await clientOf())
        .to.be.a('string')
        .and.not.equal(first);
    });
  },
);
