import { expect } from 'chai';
import { check } from '../../check/support/check.ts';
import { withProvider } from '../../check/support/provider.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';

/** The finding on the clock if every answer of the provider has this time. */
async function clockWhenProviderIsAt(date: string) {
  const refusal = json({ error: 'invalid_grant' }, 401, { Date: date });
  const all = { authorize: refusal, token: refusal, user: refusal };
  return await withProvider(all, async (flags) => {
    const { report } = await check({ flags });
    return report.findings.find(({ subject }) => subject === 'clock');
  });
}

const minute = 60_000;
const hour = 60 * minute;

function fromNow(milliseconds: number): string {
  return new Date(Date.now() + milliseconds).toUTCString();
}

describe('login-relay check, about the clock', () => {
  it('accepts a clock that agrees with the provider’s', async () => {
    expect(await clockWhenProviderIsAt(fromNow(0))).to.include({ verdict: 'ok' });
  });

  it('warns if it is ahead', async () => {
    expect(await clockWhenProviderIsAt(fromNow(-25 * hour))).to.include({
      verdict: 'warning',
      message: 'this machine’s is 25 hours ahead of the provider’s',
    });
  });

  it('warns if it is behind', async () => {
    const finding = await clockWhenProviderIsAt(fromNow(72 * hour + minute));
    expect(finding).to.include({
      verdict: 'warning',
      message: 'this machine’s is 3 days behind the provider’s',
      fix: 'let this machine keep its time by NTP: logins and certificates expire by the clock',
    });
  });

  it('reports nothing if the provider sends no Date', async () => {
    expect(await clockWhenProviderIsAt('yesterday')).to.equal(undefined);
  });
});
