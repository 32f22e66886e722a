import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { formatCmsConfigs } from '../../src/check/cms.ts';
import { readFileConfig } from '../config/support/read.ts';
import { serve } from '../harness/provider/serve.ts';
import { checkAsText } from './support/check.ts';
import { diagnoseWith, withProvider } from './support/provider.ts';

/** The lines for each CMS of a configuration file, whose secrets are not read from files. */
function configsOf(text: string): Record<string, readonly string[]> {
  const secret = { text: 'a secret' };
  const files = {
    './secret': secret,
    './client-secret': secret,
    '/var/lib/login-relay/key': { text: 'the line of a key file with 32 characters' },
  };
  const { config } = readFileConfig(text, { files });
  const lines = formatCmsConfigs(config).map(({ frontEnd, registration, backend }) => [
    `${frontEnd} at ${registration}`,
    backend.split('\n').slice(0, -1),
  ]);
  return Object.fromEntries(lines);
}

/** CMSes at two hosts of GitHub and at one of GitLab. */
const several = `
providers:
  github: { client-id: one, client-secret-file: secret }
  team: { provider: github-enterprise, provider-host: git.example.com, client-id: two, client-secret-file: secret }
  gitlab: { provider-host: git.example.com, client-id: three, client-secret-file: secret }
front-ends:
  app: { origin: https://app.example.com }
  blog: { origin: https://blog.example.com, token-delivery: cms, providers: [github] }
  docs: { origin: https://docs.example.com, token-delivery: cms, providers: [github, gitlab] }
  shop: { origin: https://shop.example.com, token-delivery: cms, providers: [team] }
`;

describe('login-relay check, about CMSes', () => {
  it('knows the lines of config.yml for each CMS at each provider', () => {
    const site = ['  repo: owner/repository', '  branch: main'];
    const base = '  base_url: https://login.example.com';
    const gitHub = ['backend:', '  name: github', ...site, base];
    expect(configsOf(`base-url: https://login.example.com${several}`)).to.deep.equal({
      'blog at github': [...gitHub, '  auth_endpoint: auth/github/blog'],
      'docs at github': [...gitHub, '  auth_endpoint: auth/github/docs'],
      'docs at gitlab': [
        'backend:',
        '  name: gitlab',
        ...site,
        base,
        '  auth_endpoint: auth/gitlab/docs',
        '  api_root: https://git.example.com/api/v4',
      ],
      'shop at team': [...gitHub, '  auth_endpoint: auth/team/shop', '  api_root: https://git.example.com/api/v3'],
    });
  });

  it('knows the lines of docs/cms.md for the relay of docs/cms.md', () => {
    const manual = readFileSync(new URL('../../docs/cms.md', import.meta.url), 'utf8');
    const [relay = '', cms = ''] = [...manual.matchAll(/^ *```yaml\n(.*?)^ *```$/gms)].map(([, lines = '']) =>
      lines.replaceAll(/^ {3}/gm, ''),
    );
    const lines = configsOf(relay)['blog at github'];
    const own = lines?.map((line) => line.replace('owner/repository', 'owner/blog')) ?? [];
    expect([...own, '']).to.deep.equal(cms.split('\n'));
  });

  it('prints the lines, and warns of a path in the base URL', async () => {
    await withProvider({}, async (flags) => {
      const { stdout } = await checkAsText({
        flags: {
          ...flags,
          provider: 'github',
          'token-delivery': 'cms',
          'base-url': 'http://localhost:1/login',
        },
      });
      const api = flags['user-url'];
      expect(stdout).to.contain(`
config.yml of the CMS app, for a login at provider:
  backend:
    name: github
    repo: owner/repository
    branch: main
    base_url: http://localhost:1
    auth_endpoint: login/auth/github/app
    api_root: ${api?.replace(/\/user$/, '')}
`);
      expect(stdout).to.match(/^ {2}warning {6}CMS: the base URL has a path: a CMS with this path/m);
    });
  });

  it('says nothing of CMSes if there is none', async () => {
    expect((await diagnoseWith({})).report).not.to.have.property('cms');
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
        const origin = `http://127.0.0.1:${page.port}`;
        const own = { 'token-delivery': 'cms', provider: 'github', scope: 'repo', origin };
        const result = await diagnoseWith({}, own);
        expect(result.finding('front end').verdict).to.equal(verdict);
        expect(asked).to.deep.equal(['/admin/']);
      } finally {
        await page.close();
      }
    });
  }
});
