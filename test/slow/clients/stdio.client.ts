import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { ClientsRelay } from '../../clients/support/clients-relay.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { Workspace } from '../../harness/system/workspace.ts';
import { ada } from '../../resources/support/resources-relay.ts';
import { openFirstSdk, openModernSdk, openSecondSdk } from './support/mcp-clients.ts';
import { programOf } from './support/programs.ts';

const require = createRequire(programOf('../programs/package.json'));
const fileOf = (name: string, path: string) => join(require.resolve(`${name}/package.json`), '..', path);
const programs: Readonly<Record<string, string>> = {
  'mcp-proxy': fileOf('mcp-proxy', 'dist/bin/mcp-proxy.mjs'),
  supergateway: fileOf('supergateway', 'dist/index.js'),
};
const server = `${process.execPath} ${programOf('@modelcontextprotocol/server-everything/dist/index.js')} stdio`;

/** The commands in docs/resources.md that put a server of stdio behind an address. */
const commands = [
  ...readFileSync(join(import.meta.dirname, '../../../docs/resources.md'), 'utf8').matchAll(
    /^(mcp-proxy|supergateway) (.*)$/gm,
  ),
].map(([, bridge = '', words = '']) => ({ bridge, words }));

/** The words of a command line, without and with quotes. */
const wordsOf = (line: string) =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

const clients = {
  'mcp-proxy': { 'the MCP SDK 1': openFirstSdk, 'the MCP SDK 2 at 2026-07-28': openModernSdk },
  supergateway: { 'the MCP SDK 1': openFirstSdk, 'the MCP SDK 2': openSecondSdk },
};

describe('a server of MCP that speaks stdio only', () => {
  it('has two recipes', () => {
    expect(commands.map(({ bridge }) => bridge)).to.deep.equal(Object.keys(clients));
  });

  for (const { bridge, words } of commands) {
    for (const [client, open] of Object.entries(Object(clients)[bridge] as Record<string, typeof openFirstSdk>)) {
      it(`is used by ${client} behind ${bridge} and the gateway`, async () => {
        const workspace = await Workspace.create();
        const port = await freePort();
        const line = words.replace('9000', `${port}`).replace('your-mcp-server', server);
        const place = { host: '127.0.0.1', port };
        await workspace.serve(process.execPath, [`${programs[bridge]}`, ...wordsOf(line)], place);
        const relay = await ClientsRelay.listen();
        const url = `http://127.0.0.1:${relay.port}/mcp`;
        await relay.restart({
          here: true,
          relay: `resources: { tools: { url: '${url}', upstream: 'http://127.0.0.1:${port}/mcp' } }\n`,
          frontEnds:
            '  tools: { kind: native, refresh-tokens: bearer, clients: { registration: true }, resources: [tools] }\n',
        });
        relay.provider.knows(json(ada));
        const session = await open({ rig: { visit: (start) => relay.visit(start.href) }, url, home: '' });
        try {
          expect(await session.names()).to.include('echo');
          expect(await session.run('echo', { message: 'hello' })).to.equal('Echo: hello');
        } finally {
          await session.close();
          await relay.stop();
          await workspace.close();
        }
      });
    }
  }
});
