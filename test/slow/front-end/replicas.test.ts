import { expect } from 'chai';
import { ResponseBodyError } from 'oauth4webapi';
import {
  certifiedProvider,
  type LoginProvider,
  startRelayFor,
} from '../../front-end/support/login-providers.ts';
import { OAuthPage } from '../../front-end/support/oauth4webapi-page.ts';
import { useRelays } from '../../harness/relay/relay-under-test.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer } from '../deploy/support/balancer.ts';
import { haproxy } from '../deploy/support/haproxy.ts';

const { describe } = needsPrograms(haproxy.program);
const tabs = 20;

describe('tabs with one refresh token, in front of three replicas behind HAProxy', () => {
  const startRelay = useRelays();
  let provider: LoginProvider;
  let balancer: Balancer;
  const target = () => balancer;

  before('start the provider, three relays and HAProxy', async () => {
    provider = await certifiedProvider();
    const flags = { 'trusted-proxies': '127.0.0.1' };
    const relays = await Promise.all(
      [1, 2, 3].map(() => startRelayFor(provider, startRelay, flags)),
    );
    balancer = await Balancer.start(
      haproxy,
      relays.map(({ port }) => port),
    );
  });
  after('stop them', async () => {
    await balancer.stop();
    await provider.close();
  });

  it('log in at one replica, and refresh at any other', async () => {
    const page = await OAuthPage.open(target);
    let tokens = await page.logIn(target, provider);
    for (let refresh = 0; refresh < 6; refresh += 1) tokens = await page.refresh(tokens);
    expect(await page.lookUp(tokens)).to.equal(200);
  });

  it('without a lock in the page, an old refresh token at another replica logs all tabs out', async () => {
    const page = await OAuthPage.open(target);
    const tokens = await page.logIn(target, provider);
    const answers = [];
    for (let tab = 0; tab < tabs; tab += 1) {
      answers.push(
        await page
          .anotherTab()
          .refresh(tokens)
          .catch((error: unknown) => error),
      );
    }
    expect(answers.some((answer) => answer instanceof ResponseBodyError)).to.equal(true);
  });

  it('with a lock in the page, all stay logged in', async () => {
    const page = await OAuthPage.open(target);
    // What navigator.locks and storage do for real tabs: one refresh at a time, of the newest token.
    let newest = page.logIn(target, provider);
    const pages = Array.from({ length: tabs }, () => page.anotherTab());
    await Promise.all(
      pages.map((tab) => {
        newest = newest.then((tokens) => tab.refresh(tokens));
        return newest;
      }),
    );
    expect(await page.lookUp(await newest)).to.equal(200);
  });
});
