import { expect } from 'chai';
import type { Answer } from '../harness/client/http-client.ts';
import { expectRedirect } from '../harness/expect/expectations.ts';
import { expectFailurePage } from '../harness/expect/failure-page.ts';
import { encoded } from '../harness/login/oauth-front-end.ts';
import { baseUrl, keyFile as newKeyFile } from '../harness/relay/relay-under-test.ts';
import { configOf, reloadWith, team } from './support/team.ts';

describe('the failure page of one of several front ends', () => {
  const underTest = team();
  const docs = 'https://docs.example';
  const frontEnd = `  docs: { origin: ${docs}, error-delivery: page, token-delivery: fragment }`;
  const intranet = '  intranet: { origin: https://in.relay.example, error-delivery: page, token-delivery: session }';
  const down = "  down: { issuer: 'http://127.0.0.1:1', client-id: a, client-secret: b }\n";
  let keyFile = '';
  const configured = async () =>
    await configOf(underTest().providers, `key-file: ${keyFile}`, `${frontEnd}\n${intranet}`);

  before('configure it', async () => {
    keyFile = await newKeyFile();
    const text = await configured();
    await reloadWith(underTest(), text.replace('front-ends:', `${down}front-ends:`));
  });

  function linksOf(answer: Answer): Readonly<Record<string, string>> {
    return expectFailurePage(answer, answer.status).links;
  }

  /** Starts a login at a path, which the person then refuses at the provider. */
  async function refuse(start: string, browser = underTest().browser('github')): Promise<Answer> {
    const request = expectRedirect(await browser.open(start));
    const state = request.searchParams.get('state') ?? '';
    const query = encoded({ error: 'access_denied', state });
    return await browser.open(`/auth/github/callback?${query}`);
  }

  for (const start of ['/auth/github/docs?state=own', '/auth/github?client_id=docs&state=own']) {
    it(`starts its login again, with its state, after a login from ${start}`, async () => {
      const browser = underTest().browser('github');
      const links = linksOf(await refuse(start, browser));
      const again = links['Log in again'] ?? '';
      expect(again).to.equal(`${baseUrl}/auth/github/docs?state=own`);
      expect(links[`Back to ${new URL(docs).host}`]).to.equal(`${docs}/`);
      const path = again.slice(baseUrl.length);
      const page = expectRedirect(await underTest().logInAt('github', path, browser));
      expect(page.origin).to.equal(docs);
      expect(new URLSearchParams(page.hash.slice(1)).get('state')).to.equal('own');
    });
  }

  it('starts its login again, with its state, if the provider is not known yet', async () => {
    const answer = await underTest().browser('github').open('/auth/down/docs?state=a%26b');
    expect(answer.status).to.equal(503);
    expect(linksOf(answer)['Log in again']).to.equal(`${baseUrl}/auth/down/docs?state=a%26b`);
  });

  const page = 'https://in.relay.example/a?b=c&d';
  for (const at of ['a callback', 'a start'] as const) {
    it(`starts a session again that returns to its page, after ${at} that failed`, async () => {
      const query = encoded({ return_to: page });
      const answer =
        at === 'a start'
          ? await underTest().browser('github').open(`/auth/down/intranet?${query}`)
          : await refuse(`/auth/github/intranet?${query}`);
      const again = new URL(linksOf(answer)['Log in again'] ?? '');
      expect(again.pathname).to.match(/\/auth\/\w+\/intranet$/);
      expect([...again.searchParams]).to.deep.equal([['return_to', page]]);
    });
  }

  it('starts a session again without a page that was refused', async () => {
    const query = encoded({ return_to: 'https://evil.example/' });
    const answer = await underTest().browser('github').open(`/auth/github/intranet?${query}`);
    expect(answer.status).to.equal(400);
    expect(linksOf(answer)['Log in again']).to.equal(`${baseUrl}/auth/github/intranet`);
  });
});
