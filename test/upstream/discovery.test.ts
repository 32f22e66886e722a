import { expect } from 'chai';
import { DiscoveryError } from '../../src/oauth/metadata.ts';
import { createUpstreamClient } from '../../src/upstream/client.ts';
import { discoverProvider } from '../../src/upstream/discovery.ts';
import { metadata, oauthPath, openIdPath } from '../harness/provider/metadata.ts';
import { answer, html, json, redirect } from '../harness/provider/provider-behaviours.ts';
import { StrictProvider } from '../harness/provider/strict-provider.ts';
import { registration } from '../harness/relay/relay-under-test.ts';

const mebibyte = 1024 * 1024;
const nothingGiven = { clientId: 'client-1', given: {}, insecureHttp: false, encodingChanges: false };

describe('the provider that discovery returns', () => {
  const client = createUpstreamClient({ timeout: 10_000, concurrentCalls: 2 });
  let issuer: StrictProvider;
  before(async () => {
    issuer = await StrictProvider.start(registration());
  });
  after(async () => {
    client.close();
    await issuer.stop();
  });

  const discover = (name = issuer.origin) => discoverProvider(client, { issuer: name, ...nothingGiven });

  /** Discovers a provider from valid metadata with this padding. */
  async function learn(padding: string) {
    issuer.pages = { [openIdPath]: json(metadata(issuer.origin, { padding })) };
    return await discover();
  }

  async function expectFailure(learning: Promise<unknown>, reason: string, explanation: string) {
    const error = await learning.catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(DiscoveryError).and.include({ reason });
    expect(error).to.have.property('explanation').that.includes(explanation);
  }

  it('comes from OAuth metadata if there is none of OpenID Connect', async () => {
    const path = '/realms/main';
    const name = `${issuer.origin}${path}`;
    issuer.pages = { [oauthPath + path]: json(metadata(name)) };
    expect(await discover(name)).to.include({ issuer: name });
    expect(issuer.asked.slice(-2)).to.deep.equal([path + openIdPath, oauthPath + path]);
  });

  it('comes from the same address for an issuer with a final slash', async () => {
    const name = `${issuer.origin}/realms/main/`;
    issuer.pages = { [`/realms/main${openIdPath}`]: json(metadata(name)) };
    expect(await discover(name)).to.include({ issuer: name });
  });

  it('comes from metadata of just under 1 MiB', async () => {
    const room = mebibyte - JSON.stringify(metadata(issuer.origin, { padding: '' })).length;
    expect(await learn('x'.repeat(room))).to.include({ issuer: issuer.origin });
    await expectFailure(learn('x'.repeat(room + 1)), 'too_large', '1 MiB');
  });

  describe('comes from the second address if the first', () => {
    for (const [what, reply] of [
      ['answers with a list', json([])],
      ['answers with nothing', answer(200)],
      ['answers with a page', html(200, '')],
      ['answers 403', html(403, '')],
      ['answers 500', html(500, '')],
      ['answers with more than 1 MiB', html(200, ' '.repeat(mebibyte + 1))],
      ['is another issuer’s', json(metadata('https://other.example'))],
      ['redirects to another origin', redirect('https://other.example/')],
    ] as const) {
      it(what, async () => {
        issuer.pages = { [openIdPath]: reply, [oauthPath]: json(metadata(issuer.origin)) };
        expect(await discover()).to.include({ issuer: issuer.origin });
      });
    }
  });

  it('does not exist for the reason of the first address if the second has no metadata', async () => {
    issuer.pages = { [openIdPath]: answer(403, 'no', { 'Content-Type': 'text/plain' }) };
    await expectFailure(discover(), 'unexpected_status', 'status 403');
  });

  it('has no default scope if the issuer has only OAuth metadata', async () => {
    issuer.pages = {
      [oauthPath]: json(metadata(issuer.origin, { scopes_supported: ['profile'] })),
    };
    expect((await discover()).scope).to.equal(undefined);
    issuer.pages = { [oauthPath]: json(metadata(issuer.origin, { scopes_supported: ['openid'] })) };
    expect((await discover()).scope).to.equal('openid');
  });

  describe('behind redirects', () => {
    it('is found after three redirects within the origin', async () => {
      issuer.pages = {
        [openIdPath]: redirect('/1', 301),
        '/1': redirect('2?a=b', 302),
        '/2?a=b': redirect(`http://somebody:secret@${new URL(issuer.origin).host}/3`, 308),
        '/3': (response, { headers: { authorization } }) => {
          const name = authorization === undefined ? issuer.origin : 'asked with a password';
          json(metadata(name))(response);
        },
      };
      expect(await discover()).to.include({ issuer: issuer.origin });
    });

    it('is not found after more redirects', async () => {
      issuer.pages = {
        [openIdPath]: redirect('/1'),
        '/1': redirect('/2'),
        '/2': redirect('/3'),
        '/3': redirect('/4'),
        '/4': json(metadata(issuer.origin)),
      };
      await expectFailure(discover(), 'redirected', 'more than 3 times');
      expect(issuer.asked).not.to.include('/4');
    });

    it('is not found at another origin', async () => {
      const other = await StrictProvider.start(registration());
      other.pages = { '/': json(metadata(other.origin)) };
      try {
        for (const target of [`${other.origin}/`, `//${new URL(other.origin).host}/`]) {
          issuer.pages = { [openIdPath]: redirect(target) };
          await expectFailure(discover(), 'redirected', other.origin);
        }
        expect(other.asked).to.deep.equal([]);
      } finally {
        await other.stop();
      }
    });

    it('is not found at an address that is none', async () => {
      for (const target of ['', 'http://[', 'javascript:alert(1)']) {
        issuer.pages = { [openIdPath]: redirect(target) };
        const error = await discover().catch((failure: unknown) => failure);
        expect(error, target).to.be.instanceOf(DiscoveryError);
        expect(Object(error).reason, target).to.be.oneOf(['redirected', 'unexpected_status']);
        expect(Object(error).explanation).not.to.include('javascript');
      }
    });
  });
});
