import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { findMissingScopes } from '../../src/check/access.ts';
import { readFileConfig } from '../config/support/read.ts';
import { documented, documentedSnippets, resourceConfigs } from '../harness/project/shipped-pages.ts';
import { selfSignedCertificate } from '../harness/system/certificate.ts';
import { logIn, ofApp, resourcesRelay, secret, tokensOf } from './support/resources-relay.ts';

const [alone = '', ofPage = '', secretLine = '', ofPrograms = '', ofMachines = '', ofBrowsers = '', ofSeveral = ''] =
  resourceConfigs();
const [head = '', resources = ''] = ofPage.split(/(?=^resources:)/m);
const publicKey = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });
const files = {
  './github-secret': { text: 'secret' },
  './google-secret': { text: 'secret' },
  './notes-secret': { text: secret },
  './ci-secret': { text: secret },
  './robot.pub': { text: `${publicKey}` },
};

describe('docs/resources.md', () => {
  const relay = resourcesRelay({
    here: true,
    relay: resources.replace(/front-ends:.*/s, secretLine),
    frontEnds: '  app: { origin: https://app.example, token-delivery: code, resources: [notes] }',
    files: { './notes-secret': secret },
  });
  const folder = mkdtempSync(join(tmpdir(), 'login-relay-'));
  after(() => rmSync(folder, { recursive: true }));

  it('has files without a fault', async () => {
    const pem = { text: await selfSignedCertificate('notes.example.com') };
    const ofTls = { './certificate.pem': pem, './certificate-key.pem': pem };
    const { warnings } = readFileConfig(alone, { files: { ...files, ...ofTls } });
    expect(warnings).to.deep.equal([]);
    expect(resourceConfigs()).to.have.length(7);
    const withSecret = ofPage.replace('front-ends:', `${secretLine}$&`);
    const withMachines = ofPage + ofMachines.replace('front-ends:\n', '');
    // Both pieces say which scope they need beside that of the first file.
    const withOrganizations = head.replace('user:email', 'read:org user:email');
    const withBrowsers = withOrganizations.replace(/^trusted-proxies:.*\n/m, '') + ofBrowsers;
    const withSeveral = head.replace(/^providers:.*/ms, '') + ofSeveral;
    for (const text of [ofPage, withSecret, withOrganizations + ofPrograms, withMachines, withBrowsers, withSeveral]) {
      const { warnings, config } = readFileConfig(text, { files });
      expect(warnings).to.deep.equal([]);
      expect(findMissingScopes(config)).to.deep.equal([]);
    }
  });

  it('has a worker that knows whom a token belongs to, and lets pages call', async () => {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    for (const name of ['person.js', 'worker.js']) {
      writeFileSync(join(folder, name), documented(name, relay().address, 'resources'));
    }
    const { default: worker } = await import(join(folder, 'worker.js'));
    const ask = async (init: RequestInit, NOTES_SECRET = secret): Promise<Response> =>
      await worker.fetch(new Request('https://notes.example.com/', init), { NOTES_SECRET });
    const { access_token } = tokensOf(await logIn(relay(), ofApp));
    const headers = { Authorization: `Bearer ${access_token}` };
    for (const [answer, status, text] of [
      [await ask({ headers }), 200, /^The notes of 42$/],
      [await ask({ headers: { Authorization: 'Bearer junk' } }), 401, /./],
      [await ask({}), 401, /./],
      [await ask({ headers }, 'wrong'), 503, /./],
      [await ask({ method: 'OPTIONS' }), 200, /^$/],
    ] as const) {
      expect(answer.status).to.equal(status);
      expect(await answer.text()).to.match(text);
      expect(answer.headers.get('Access-Control-Allow-Origin')).to.equal('*');
    }
  });

  it('has only code that tests run', () => {
    // websocket-library.test.ts and test/slow run the others.
    expect([...documentedSnippets('resources').keys()]).to.deep.equal([
      'socket.js',
      'page.html',
      'api.py',
      'person.js',
      'worker.js',
      'express.js',
      'mcp.js',
    ]);
  });
});
