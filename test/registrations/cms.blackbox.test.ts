import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { expectCmsPopup, resultOf } from '../harness/expect/cms-popup.ts';
import { expectError, expectRedirect } from '../harness/expect/expectations.ts';
import { expectFailurePage } from '../harness/expect/failure-page.ts';
import type { StrictProvider } from '../harness/provider/strict-provider.ts';
import { baseUrl, type Relay, startRelayWith } from '../harness/relay/relay-under-test.ts';
import { entryOf, startProviderOf } from './support/team.ts';

const names = ['staff', 'code', 'team', 'gitlab'] as const;

type Name = (typeof names)[number];

const frontEnds = `
  app: { origin: https://app.example }
  blog: { origin: https://blog.example, token-delivery: cms, providers: [code, team], scope: repo }
  docs: { origin: https://docs.example, token-delivery: cms, providers: [code, team] }
  shop: { origin: https://shop.example, token-delivery: cms, providers: [gitlab] }
`;

/** A relay with registrations at two GitHub and one GitLab, three CMSes, and an ordinary page. */
describe('a relay with several CMSes', () => {
  const providers = new Map<Name, StrictProvider>();
  let relay: Relay;

  before('start the relay and its providers', async () => {
    const entries = await Promise.all(names.map(startProvider));
    relay = await startRelayWith(
      `base-url: ${baseUrl}\nport: 0\nproviders:\n${entries.join('')}front-ends:${frontEnds}`,
    );
  });
  after('stop them', async () => {
    await Promise.all([...providers.values()].map((provider) => provider.stop()));
    await relay.stop();
  });

  async function startProvider(name: Name): Promise<string> {
    const [preset, tokenRequest] = name === 'gitlab' ? (['gitlab', 'body'] as const) : (['github', 'query'] as const);
    const provider = await startProviderOf(name, { tokenRequest });
    providers.set(name, provider);
    return await entryOf(name, provider, `\n    provider: ${preset}`);
  }

  function providerOf(name: Name): StrictProvider {
    const provider = providers.get(name);
    if (provider === undefined) throw new Error('the provider has not started');
    return provider;
  }

  const browserAt = (name: Name) => new FakeBrowser(() => ({ port: relay.port, provider: providerOf(name) }));
  const ofCms = (backend: string) => `provider=${backend}&site_id=any.example&scope=repo`;

  for (const [start, name, backend, origin] of [
    [`/auth?${ofCms('github')}`, 'code', 'github', 'https://blog.example'],
    [`/auth?${ofCms('gitlab')}`, 'gitlab', 'gitlab', 'https://shop.example'],
    ['/auth', 'code', 'github', 'https://blog.example'],
    [`/auth/code?${ofCms('github')}`, 'code', 'github', 'https://blog.example'],
    [`/auth/team?${ofCms('github')}`, 'team', 'github', 'https://blog.example'],
    [`/auth/code/docs?${ofCms('github')}`, 'code', 'github', 'https://docs.example'],
    [`/auth/team/docs?${ofCms('github')}`, 'team', 'github', 'https://docs.example'],
    [`/auth/code?client_id=docs&${ofCms('github')}`, 'code', 'github', 'https://docs.example'],
    [`/auth/gitlab?${ofCms('gitlab')}`, 'gitlab', 'gitlab', 'https://shop.example'],
    ['/auth/gitlab/shop', 'gitlab', 'gitlab', 'https://shop.example'],
  ] as const) {
    it(`logs the CMS at ${origin} in at ${name}, for ${start}`, async () => {
      const provider = providerOf(name);
      const browser = browserAt(name);
      const callback = await browser.consent(provider, start);
      const messages = expectCmsPopup(await browser.open(callback), 200);
      expect(messages.origin).to.equal(origin);
      expect(messages.greeting).to.equal(`authorizing:${backend}`);
      const token = provider.tokenFor(provider.credentials('token').at(-1) ?? '');
      expect(resultOf(messages, backend, 'success')).to.deep.equal({ token, provider: backend });
    });
  }

  it('gives a start without site_id to the first page that is no CMS', async () => {
    const provider = providerOf('code');
    const browser = browserAt('code');
    const callback = await browser.consent(provider, '/auth/code?provider=github');
    const page = expectRedirect(await browser.open(callback));
    expect(page.origin).to.equal('https://app.example');
  });

  it('gives a start with site_id to an ordinary page if the registration has no CMS', async () => {
    const request = expectRedirect(await relay.get('/auth/staff?site_id=any.example'));
    expect(request.origin).to.equal(providerOf('staff').origin);
  });

  for (const path of [
    '/auth?provider=bitbucket',
    '/auth?provider=team',
    '/auth?provider=github&provider=gitlab',
    `/auth/gitlab?${ofCms('github')}`,
    '/auth/code/docs?provider=gitlab',
  ]) {
    it(`refuses the backend in ${path}`, async () => {
      const detail = expectError(await relay.get(path), 400);
      expect(detail).to.match(/backend of a CMS that logs in here/);
    });
  }

  it('leads a person with a wrong backend back to the CMS, not to another front end', async () => {
    const browser = browserAt('code');
    const page = expectFailurePage(await browser.open('/auth/code?site_id=x&provider=gitlab'), 400);
    const links = { 'Back to blog.example': 'https://blog.example/admin/' };
    expect(page.links).to.deep.equal(links);
  });

  for (const path of ['/auth/', '/auth/gitlab/blog', '/auth/staff/blog', '/Auth']) {
    it(`has nothing at ${path}`, async () => {
      expectError(await relay.get(path), 404);
    });
  }
});
