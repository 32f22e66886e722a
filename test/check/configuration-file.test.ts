import { expect } from 'chai';
import { diagnose } from '../../src/check/diagnose.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { serve } from '../harness/provider/serve.ts';
import { secretFile } from '../harness/relay/relay-under-test.ts';
import { freePort } from '../harness/system/free-port.ts';
import { diagnoseFile } from './support/check.ts';
import { withProvider } from './support/provider.ts';

describe('login-relay check, about a configuration file', () => {
  const keyFileLine = 'the line of a key file with 32 characters or more';

  it('examines every registration and every front end, and names each', async () => {
    const page = await serve((_, response) => response.end('<!doctype html>'));
    const secret = await secretFile('a client secret');
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const text = `
base-url: http://localhost:${await freePort()}
key-file: ${await secretFile(keyFileLine)}
providers:
  one: { issuer: ${nowhere}, client-id: client-1, client-secret-file: ${secret} }
  two: { issuer: ${nowhere}, client-id: client-2, client-secret-file: ${secret} }
front-ends:
  app: { origin: http://localhost:${page.port}, token-delivery: code }
  old: { origin: ${nowhere}, providers: [two] }
`;
    try {
      const { report, code } = await diagnoseFile(text);
      const verdicts = Object.fromEntries(report.findings.map(({ subject, verdict }) => [subject, verdict]));
      expect(verdicts).to.include({
        'discovery (one)': 'problem',
        'discovery (two)': 'problem',
        'base URL (one)': 'not_checked',
        'front end (app)': 'ok',
        'front end (old)': 'warning',
      });
      expect(code).to.equal(1);
      expect(Object.keys(report.callbackUrls ?? {})).to.deep.equal(['one', 'two']);
      expect(report.callbackUrls?.['two']).to.match(/\/auth\/two\/callback$/);
    } finally {
      await page.close();
    }
  });

  it('examines the file of the packaged service if nothing is given, and says so', async () => {
    const packaged = '/etc/login-relay/config.yaml';
    const refused = (code: string) => (path: string) => {
      throw Object.assign(new Error(path), { code: path === packaged ? code : 'ENOENT' });
    };
    const messages = async (environment: Record<string, string>, code: string) => {
      const { report } = await diagnose({ flags: {}, environment }, refused(code));
      return report.findings.map(({ message }) => message).join('\n');
    };
    const chosen = `${packaged} is read, since no option is given`;
    expect(await messages({}, 'EACCES')).to.equal(
      `${chosen}\n--config (LOGIN_RELAY_CONFIG) "${packaged}" names a file that this user may not read`,
    );
    expect(await messages({}, 'ENOENT')).to.match(/^--client-id .* is required/);
    expect(await messages({ PORT: '1' }, 'EACCES')).to.match(/^--client-id .* is required/);
    expect(await messages({ LOGIN_RELAY_CONFIG: '' }, 'EACCES')).to.match(/^--client-id .* is required/);
  });

  it('names the settings of the file in its advice, and the place of each setting that the file has', async () => {
    const secret = await secretFile('a client secret');
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const refusal = json({ error: 'invalid_client' }, 401);
    await withProvider({ token: refusal }, async (_, __, address) => {
      const { file, report, about } = await diagnoseFile(`base-url: ${nowhere}
key-file: ${await secretFile(keyFileLine)}
providers:
  one:
    authorize-url: ${address}/authorize
    token-url: ${address}/token
    user-url: ${address}/missing
    client-id: client-1
    client-secret-file: ${secret}
  two: { issuer: ${address}, client-id: client-2, client-secret-file: ${secret} }
front-ends:
  app: { origin: ${nowhere} }
`);
      const fixOf = (wanted: string) => about(wanted)?.fix;
      expect(fixOf('token endpoint (one)')).to.equal(
        `correct the secret in the file of ${file}:9:5 providers.one.client-secret-file, or ${file}:8:5 providers.one.client-id`,
      );
      expect(fixOf('user lookup (one)')).to.equal(`correct ${file}:7:5 providers.one.user-url`);
      expect(fixOf('discovery (two)')).to.equal(
        `correct ${file}:10:10 providers.two.issuer, set metadata-url if they are elsewhere, or give the three endpoints by hand`,
      );
      expect(fixOf('front end (app)')).to.contain(`${file}:12:10 front-ends.app.origin`);
      const fixes = report.findings.map(({ fix }) => fix ?? '');
      expect(fixes.filter((fix) => /--[a-z]/.test(fix))).to.deep.equal([]);
    });
  });

  it('checks all providers at the same time, and reports in the order of the file', async () => {
    const asked = new Set<string>();
    const { promise: allAreAsked, resolve } = Promise.withResolvers<void>();
    const pages = ['/page-0', '/page-1', '/page-2'];
    // The answers come only after all pages were requested, and the first page answers last. A check that requests one
    // page after another would get no answer.
    const server = await serve(async ({ url = '' }, response) => {
      asked.add(url);
      if (pages.every((page) => asked.has(page)) && asked.size > pages.length) resolve();
      await allAreAsked;
      if (url === '/page-0') await new Promise(setImmediate);
      response.writeHead(pages.includes(url) ? 200 : 404).end();
    });
    const origin = `http://127.0.0.1:${server.port}`;
    const names = pages.map((page) => page.slice(1));
    const entries = names.map((name) => `  ${name}: { origin: ${origin}, frontend-url: ${origin}/${name} }\n`);
    try {
      const { report, about } = await diagnoseFile(`base-url: http://127.0.0.1:${await freePort()}
provider-timeout: 5
providers:
  one: { issuer: ${origin}, client-id: a, client-secret: b }
front-ends:
${entries.join('')}`);
      expect(about('discovery (one)')?.message).to.not.contain('in time');
      const found = report.findings.filter(({ subject }) => subject.startsWith('front end'));
      expect(found.map(({ subject, verdict }) => [subject, verdict])).to.deep.equal(
        names.map((name) => [`front end (${name})`, 'ok']),
      );
    } finally {
      await server.close();
    }
  });
});
