import { expect } from 'chai';
import { reportAsText } from '../../src/check/report.ts';
import { diagnose } from '../../src/cli/commands/check.ts';
import { serve } from '../harness/provider/serve.ts';
import type { Flags } from '../harness/relay/relay-process.ts';
import { secretFile, startRelay } from '../harness/relay/relay-under-test.ts';
import { freePort } from '../harness/system/free-port.ts';
import { diagnoseHere } from './support/check.ts';
import { withProvider } from './support/provider.ts';

/** Examines a configuration file with CMSes at two hosts of GitHub and one of GitLab. */
async function examineFile(baseUrl: string) {
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const secret = await secretFile('a client secret');
  const client = `client-id: client-1, client-secret-file: ${secret}, token-url: ${nowhere}/token`;
  const file = await secretFile(`
base-url: ${baseUrl}
key-file: ${await secretFile('the line of a key file with 32 characters or more')}
providers:
  github: { ${client}, provider: github, authorize-url: ${nowhere}/authorize, user-url: https://api.github.com/user }
  work: { ${client}, provider: github-enterprise, provider-host: git.example.com, authorize-url: ${nowhere} }
  gitlab: { ${client}, provider: gitlab, provider-host: git.example.com, authorize-url: ${nowhere}, user-url: ${nowhere}/api/v4/user }
front-ends:
  app: { origin: ${nowhere} }
  blog: { origin: ${nowhere}, token-delivery: cms, providers: [github], scope: repo }
  docs: { origin: ${nowhere}, token-delivery: cms, providers: [github, gitlab], scope: repo api }
  shop: { origin: ${nowhere}, token-delivery: cms, providers: [work], scope: repo }
`);
  const { report } = await diagnose({ flags: { config: [file] }, environment: {} });
  return { report, nowhere };
}

describe('login-relay check, about CMSes', () => {
  it('prints the lines of config.yml for each CMS at each provider', async () => {
    const { report, nowhere } = await examineFile('https://login.example.com');
    const lines = report.cms?.map(({ frontEnd, registration, backend }) => [
      `${frontEnd} at ${registration}`,
      backend.split('\n').slice(1, -1),
    ]);
    const site = ['  repo: owner/repository', '  branch: main'];
    const base = '  base_url: https://login.example.com';
    expect(Object.fromEntries(lines ?? [])).to.deep.equal({
      'blog at github': ['  name: github', ...site, base],
      'docs at github': ['  name: github', ...site, base, '  auth_endpoint: auth/github/docs'],
      'docs at gitlab': ['  name: gitlab', ...site, base, `  api_root: ${nowhere}/api/v4`],
      'shop at work': [
        '  name: github',
        ...site,
        base,
        '  auth_endpoint: auth/work/shop',
        '  api_root: https://git.example.com/api/v3',
      ],
    });
    expect(reportAsText(report)).to.contain(`
config.yml of the CMS docs, for a login at github:
  backend:
    name: github
    repo: owner/repository
    branch: main
    base_url: https://login.example.com
    auth_endpoint: auth/github/docs
`);
  });

  it('warns of a path in the base URL, and puts it into auth_endpoint', async () => {
    const { report } = await examineFile('https://example.com/login/');
    expect(report.cms?.[0]?.backend).to.equal(`backend:
  name: github
  repo: owner/repository
  branch: main
  base_url: https://example.com
  auth_endpoint: login/auth/github/blog
`);
    const paths = report.findings.filter(({ message }) => message.startsWith('has a path'));
    expect(paths.map(({ subject, verdict }) => [subject, verdict])).to.deep.equal([
      ['base URL', 'warning'],
    ]);
  });

  it('says nothing of CMSes if there is none', async () => {
    await withProvider({}, async (flags) => {
      const { report } = await diagnoseHere({ flags });
      expect(report).not.to.have.property('cms');
    });
  });

  it('reaches a relay whose only front end is a CMS', async () => {
    const port = String(await freePort());
    const own: Flags = {
      'base-url': `http://localhost:${port}`,
      'token-delivery': 'cms',
      provider: 'github',
    };
    const underTest = await startRelay({ port, ...own });
    try {
      await withProvider({}, async (flags) => {
        const { clientId } = underTest.provider.registration;
        const result = await diagnoseHere({ flags: { ...flags, ...own, 'client-id': clientId } });
        expect(result.finding('base URL').verdict).to.equal('ok');
      });
    } finally {
      await underTest.stop();
    }
  });

  it('warns of a scope without access to repositories', async () => {
    await withProvider({}, async (flags) => {
      const { complaints } = await diagnoseHere({
        flags: { ...flags, 'token-delivery': 'cms', provider: 'github' },
      });
      expect(complaints.join('\n')).to.match(
        /warning: configuration: .* no access to repositories/,
      );
    });
  });

  for (const [policy, verdict] of [
    ['same-origin', 'warning'],
    ['same-origin; report-to="coop"', 'warning'],
    ['same-origin-allow-popups', 'ok'],
    ['unsafe-none', 'ok'],
    [undefined, 'ok'],
  ] as const) {
    it(`reports the admin page as ${verdict} if its Cross-Origin-Opener-Policy is ${policy}`, async () => {
      const asked: string[] = [];
      const page = await serve((request, response) => {
        asked.push(`${request.url}`);
        if (policy !== undefined) response.setHeader('Cross-Origin-Opener-Policy', policy);
        response.end('<!doctype html>');
      });
      try {
        await withProvider({}, async (flags) => {
          const origin = `http://127.0.0.1:${page.port}`;
          const own = { 'token-delivery': 'cms', provider: 'github', scope: 'repo', origin };
          const result = await diagnoseHere({ flags: { ...flags, ...own } });
          expect(result.finding('front end').verdict).to.equal(verdict);
          expect(asked).to.deep.equal(['/admin/']);
        });
      } finally {
        await page.close();
      }
    });
  }
});
