import { expect } from 'chai';
import type { Page } from '../harness/provider/pages.ts';
import { html, json } from '../harness/provider/provider-behaviours.ts';
import { diagnoseHere } from './support/check.ts';
import { withProvider } from './support/provider.ts';

/** The findings at a token endpoint that answers refreshes at a separate path. */
async function findingAt(path: string, refresh: Page) {
  const metadata: Page = (response, request) =>
    (request.url.pathname === '/refresh' ? refresh : html(404, 'Nothing'))(response, request);
  return await withProvider({ metadata }, async (flags, arrivals, address) => {
    const result = await diagnoseHere({ flags: { ...flags, 'refresh-url': `${address}${path}` } });
    const asked = arrivals.filter(({ url }) => url.pathname === path).map(({ body }) => body);
    return { ...result.finding('refresh endpoint'), asked };
  });
}

describe('login-relay check, about a URL for refreshes', () => {
  it('sends it a made-up refresh token', async () => {
    const { verdict, asked } = await findingAt('/refresh', json({ error: 'invalid_grant' }, 400));
    expect(verdict).to.equal('ok');
    expect(asked).to.have.length(1);
    expect(asked[0]).to.match(/grant_type=refresh_token&refresh_token=login-relay-check/);
  });

  it('reports a wrong address and a refused client, and else that nothing shows', async () => {
    const wrong = await findingAt('/nothing', json({}));
    expect([wrong.verdict, wrong.fix]).to.deep.equal(['problem', 'correct --refresh-url (PROVIDER_REFRESH_URL)']);
    expect((await findingAt('/refresh', json({ error: 'invalid_client' }, 401))).verdict).to.equal('problem');
    const unclear = await findingAt('/refresh', json({ odd: true }, 409));
    expect(unclear.verdict).to.equal('not_checked');
    expect(unclear.message).to.contain('409');
  });

  it('says nothing if there is none', async () => {
    await withProvider({}, async (flags) => {
      const { report } = await diagnoseHere({ flags });
      expect(report.findings.map(({ subject }) => subject)).not.to.include('refresh endpoint');
    });
  });
});
