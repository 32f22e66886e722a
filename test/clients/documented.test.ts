import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { makeClientId } from '../../src/cli/commands/client-id.ts';
import { ConfigError } from '../../src/failures/start-errors.ts';
import { oauthStart, redirectUri } from '../harness/login/oauth-front-end.ts';
import { clientsRelay, jsonOf } from './support/clients-relay.ts';

const page = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
const commandLine = fileURLToPath(new URL('../../examples/command-line/login.js', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'login-relay-'));
after(() => rmSync(directory, { recursive: true }));

const [, frontEnds = ''] = /```yaml\n[^`]*?front-ends:\n(.*?)```/s.exec(page) ?? [];

describe('docs/clients.md', () => {
  const relay = clientsRelay(() => ({
    here: true,
    frontEnds,
    files: { './previews-key': 'x'.repeat(32) },
  }));

  it('has a command line that logs in, or says why not', async () => {
    const issuer = `${relay().address}/auth/provider`;
    for (const [trouble, exit, says] of [
      [undefined, 0, /^You are owner-of-\S+\n$/],
      [500, 1, /^You are not logged in: .+\n$/],
    ] as const) {
      relay().provider.mood.trouble = trouble;
      const program = spawn(process.execPath, [commandLine, issuer, 'cli'], { env: {}, stdio: 'pipe' });
      const exited = once(program, 'exit');
      const [asks] = await once(program.stdout, 'data');
      const said = text(exit === 0 ? program.stdout : program.stderr);
      await fetch(await relay().visit(`${asks}`.trim().replace('Open ', '')));
      expect(await said).to.match(says);
      expect(await exited).to.deep.equal([exit, null]);
    }
  });

  it('has a command line that names the cause if it cannot reach the relay', async () => {
    // Node.js refuses port 1 itself, so no network decides what happens.
    const { stderr, status } = spawnSync(process.execPath, [commandLine, 'http://127.0.0.1:1/auth/provider']);
    expect(`${stderr}`).to.equal('You are not logged in: fetch failed (bad port)\n');
    expect(status).to.equal(1);
  });

  it('has a step of a workflow that makes a client_id, or fails', () => {
    const [, step = ''] = /^- run: \|\n(.*?)^ *env:/ms.exec(page) ?? [];
    const program = fileURLToPath(new URL('../../bin/login-relay.ts', import.meta.url));
    const here = join(directory, 'login-relay');
    writeFileSync(here, `#!/bin/sh\nexec ${process.execPath} ${program} "$@"`, { mode: 0o755 });
    const GITHUB_ENV = join(directory, 'env');
    const PATH = `${directory}:${process.env['PATH']}`;
    const run = (KEY: string) => {
      writeFileSync(GITHUB_ENV, '');
      const env = { PATH, GITHUB_ENV, KEY, URL: 'https://pr-1.example.dev/' };
      const { status } = spawnSync('/bin/sh', ['-e', '-c', step], { cwd: directory, env });
      return { status, made: readFileSync(GITHUB_ENV, 'utf8') };
    };
    const { status, made } = run('x'.repeat(44));
    expect(status).to.equal(0);
    expect(made).to.match(/^CLIENT_ID=previews\.lr1_\S+\n$/);
    expect(run('short')).to.deep.equal({ status: 2, made: '' });
  });
});

describe('login-relay client-id', () => {
  const keyFile = join(directory, 'previews-key');
  const key = 'the key of previews, of 32 characters or more';
  const page = 'https://branch.example.dev/';
  const flags = { clientKeyFile: keyFile, frontEnd: 'previews', redirectUri: [page], days: '14' };
  const frontEnds = `  app: { origin: https://app.example }
  previews: { token-delivery: code, client-key-file: ./previews-key, refresh-tokens: bearer }
`;
  const relay = clientsRelay(() => ({ frontEnds, files: { './previews-key': key } }));
  before(() => writeFileSync(keyFile, `${key}\n`));

  it('makes an identifier of a page that logs in without consent, and reads the answers', async () => {
    const client_id = makeClientId(flags);
    const { start, code } = await relay().logIn({ client_id, redirect_uri: page });
    const origin = ['Origin', 'https://branch.example.dev'] as const;
    const answer = await relay().redeem(start, code, {}, [origin]);
    expect(answer.headers['access-control-allow-origin']).to.equal(origin[1]);
    expect(answer.headers).not.to.have.property('access-control-allow-credentials');
    expect(jsonOf(answer)['access_token']).to.be.a('string');
    // The front end has no key, whatever other front ends have.
    expect(jsonOf(answer)).not.to.have.property('refresh_token');
    const other = ['Origin', 'https://other.example.dev'] as const;
    const foreign = await relay().redeem(start, code, {}, [other]);
    expect(foreign.status).to.equal(403);
    expect(foreign.headers).not.to.have.property('access-control-allow-origin');
  });

  it('makes a client_id that is valid only for its pages, its front end, its key and its days', async () => {
    const client_id = makeClientId(flags);
    const start = async (id: string, redirect_uri = page) => {
      const { parameters } = oauthStart({ client_id: id, redirect_uri });
      return (await relay().open(relay().browser(), parameters)).status;
    };
    expect(await start(client_id)).to.equal(307);
    const ofApp = makeClientId({ ...flags, frontEnd: 'app' });
    for (const uri of ['https://other.example.dev/', redirectUri]) {
      expect(await start(client_id, uri)).to.equal(400);
    }
    for (const id of [client_id.replace('previews', 'app'), ofApp, ofApp.replace('app', 'previews')]) {
      expect(await start(id)).to.equal(400);
    }
    writeFileSync(keyFile, 'another key of 32 characters or more');
    expect(await start(makeClientId(flags))).to.equal(400);
    writeFileSync(keyFile, key);
    relay().ahead = 14 * 86_400_000 + 1000;
    expect(await start(client_id)).to.equal(401);
  });

  it('names every fault', () => {
    const wrong = {
      clientKeyFile: join(directory, 'missing'),
      frontEnd: 'a/b',
      redirectUri: ['http://example.com/'],
      days: '0',
    };
    expect(() => makeClientId(wrong))
      .to.throw(ConfigError)
      .with.property('faults')
      .that.has.lengthOf(4);
  });
});
