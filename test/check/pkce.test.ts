import { expect } from 'chai';
import type { Page } from '../harness/provider/pages.ts';
import { html, redirect } from '../harness/provider/provider-behaviours.ts';
import { diagnoseWith } from './support/provider.ts';

/** A login page for requests with PKCE, or for those without. The other requests get an error. */
function only(withPkce: boolean, error: Page = redirect('/e?error=invalid_request')): Page {
  return (response, arrival) => {
    const has = arrival.url.searchParams.has('code_challenge');
    (has === withPkce ? redirect('/login') : error)(response, arrival);
  };
}

describe('login-relay check, about PKCE', () => {
  it('says that the provider requires it', async () => {
    const result = await diagnoseWith({ authorize: only(true) }, { pkce: 'on' });
    expect(result.complaints).to.deep.equal([]);
    expect(result.finding('PKCE')).to.include({
      verdict: 'ok',
      message: 'sent, and required by the provider',
    });
  });

  it('does not call it enforced if the provider accepts a request without it', async () => {
    const result = await diagnoseWith({}, { pkce: 'on' });
    expect(result.complaints).to.deep.equal([]);
    expect(result.finding('PKCE').verdict).to.equal('not_checked');
  });

  it('does not mention it if it is off and no request needs it', async () => {
    const { report } = await diagnoseWith({}, { pkce: 'off' });
    expect(report.findings.map(({ subject }) => subject)).not.to.include('PKCE');
  });

  for (const [right, error] of [
    ['on', redirect('/e?error=invalid_request')],
    ['off', html(400, 'unknown parameter')],
  ] as const) {
    it(`reports no problem after the advice to set PKCE ${right} is followed`, async () => {
      const authorize = only(right === 'on', error);
      const wrong = await diagnoseWith({ authorize }, { pkce: right === 'on' ? 'off' : 'on' });
      expect(wrong.code).to.equal(1);
      expect(wrong.complaints).to.have.length(1);
      expect(wrong.finding('PKCE').fix).to.equal(`set --pkce (PROVIDER_PKCE) to ${right}`);
      const followed = await diagnoseWith({ authorize }, { pkce: right });
      expect(followed.complaints).to.deep.equal([]);
    });
  }

  it('blames the request if the provider refuses it with PKCE and without', async () => {
    const result = await diagnoseWith({ authorize: html(403, 'No.') });
    expect(result.complaints).to.have.length(1);
    expect(result.finding('authorization endpoint').verdict).to.equal('problem');
  });
});
