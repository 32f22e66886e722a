import { expect } from 'chai';
import { diagnose } from '../../src/cli/commands/check.ts';
import { serve } from '../harness/provider/serve.ts';
import { secretFile } from '../harness/relay/relay-under-test.ts';
import { freePort } from '../harness/system/free-port.ts';

describe('login-relay check, about a configuration file', () => {
  const keyFileLine = 'the line of a key file with 32 characters or more';

  it('examines every registration and every front end, and names each', async () => {
    const page = await serve((_, response) => response.end('<!doctype html>'));
    const secret = await secretFile('a client secret');
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const file = await secretFile(`
base-url: http://localhost:${await freePort()}
key-file: ${await secretFile(keyFileLine)}
providers:
  one: { issuer: ${nowhere}, client-id: client-1, client-secret-file: ${secret} }
  two: { issuer: ${nowhere}, client-id: client-2, client-secret-file: ${secret} }
front-ends:
  app: { origin: http://localhost:${page.port}, token-delivery: code }
  old: { origin: ${nowhere}, providers: [two] }
`);
    try {
      const { report, code } = await diagnose({ flags: { config: [file] }, environment: {} });
      const verdicts = Object.fromEntries(
        report.findings.map(({ subject, verdict }) => [subject, verdict]),
      );
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
});
