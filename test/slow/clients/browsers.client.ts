import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { DoorRelay } from '../../browsers/support/door-relay.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { trust } from '../../harness/system/trust.ts';
import { ada } from '../../resources/support/resources-relay.ts';
import { Balancer } from '../deploy/support/balancer.ts';
import { browserGuards } from '../deploy/support/kinds.ts';
import { DocumentedPrograms, withoutIntrospection } from './support/documented-programs.ts';
import { openFirstSdk, openInspector, openMcpRemote, openSecondSdk } from './support/mcp-clients.ts';

const clients = {
  'the MCP SDK 1': openFirstSdk,
  'the MCP SDK 2': openSecondSdk,
  'mcp-remote': openMcpRemote,
  'the Inspector': openInspector,
};

let applicationPort = 0;
for (const [name, kind] of Object.entries(browserGuards(() => applicationPort))) {
  needsPrograms(kind.program).describe(`an MCP server that also opens to browsers, behind ${name}`, () => {
    let relay: DoorRelay;
    let proxy: Balancer;
    let servers: DocumentedPrograms;
    let distrust = () => {};
    let origin = '';
    let home: string;

    before('start them', async () => {
      applicationPort = await freePort();
      relay = await DoorRelay.listen<DoorRelay>();
      proxy = await Balancer.start(kind, [relay.port]);
      origin = `https://localhost:${proxy.tlsPort}`;
      distrust = trust(await readFile(proxy.certificateFile, 'utf8'));
      await relay.restart({
        here: true,
        relay: `trusted-proxies: [127.0.0.1]\nresources: { wiki: { url: '${origin}/', browser: true } }\n`,
        frontEnds:
          '  tools: { kind: native, refresh-tokens: bearer, clients: { registration: true }, resources: [wiki] }\n',
      });
      relay.provider.knows(json(ada));
      servers = await DocumentedPrograms.create();
      await servers.serve('mcp.js', { relay: relay.address, port: applicationPort, change: withoutIntrospection });
    });
    beforeEach(() => {
      home = mkdtempSync(join(tmpdir(), 'login-relay-'));
    });
    afterEach(() => rmSync(home, { recursive: true }));
    after('stop them', async () => {
      distrust();
      await servers.stop();
      await proxy.stop();
      await relay.stop();
    });

    for (const [client, open] of Object.entries(clients)) {
      it(`lets ${client} log in as it is published, and people with a cookie at the same address`, async () => {
        const person = relay.person(proxy.port);
        const user = `${origin}/.login-relay/user`;
        await person.visit(`${origin}/mcp`);
        const logins: URL[] = [];
        const visit = async (start: URL) => {
          logins.push(start);
          return await relay.visit(start.href);
        };
        const { certificateFile } = proxy;
        const session = await open({ rig: { visit, certificateFile }, url: `${origin}/mcp`, home });
        try {
          expect(await session.call()).to.equal(`You are ${ada.sub}`);
          expect(logins).to.have.lengthOf(1);
          const seen = await person.open(user);
          expect(JSON.parse(`${seen.body}`)).to.include({ sub: ada.sub });
          expect((await person.open(`${origin}/mcp`)).status).to.not.be.oneOf([302, 401, 403]);
          expect(await session.call()).to.equal(`You are ${ada.sub}`);
          expect(person.logins).to.equal(1);
        } finally {
          await session.close();
        }
      });
    }
  });
}
