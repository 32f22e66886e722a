import { expect } from 'chai';
import { type Answer, send } from '../../harness/client/http-client.ts';
import { expectOAuthError } from '../../harness/login/oauth-front-end.ts';
import { frontendOrigin, relayUnderTest } from '../../harness/relay/relay-under-test.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer, type BalancerKind } from './support/balancer.ts';
import { caddy } from './support/caddy.ts';
import { startDyingRelay } from './support/dying-relay.ts';
import { haproxy } from './support/haproxy.ts';
import { nginx } from './support/nginx.ts';

const kinds: Readonly<Record<string, BalancerKind>> = { haproxy, nginx, caddy };
const path = '/auth/provider/token';
/** The relay's limit. */
const most = 16 * 1024;

async function requestToken(port: number, length: number): Promise<Answer> {
  const body = 'grant_type=refresh_token&client_id=app&refresh_token='.padEnd(length, 'a');
  return await send(port, {
    method: 'POST',
    path,
    headers: [
      ['Origin', frontendOrigin],
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['Content-Length', `${length}`],
    ],
    body,
  });
}

for (const [name, kind] of Object.entries(kinds)) {
  const { describe } = needsPrograms(kind.program);

  describe(`a token request to ${name}, configured as in deploy,`, () => {
    const underTest = relayUnderTest();
    let balancer: Balancer | undefined;
    afterEach('stop the balancer', async () => await balancer?.stop());

    it('is forwarded up to the limit of the relay, and the relay refuses a longer one', async () => {
      balancer = await Balancer.start(kind, [underTest().port]);
      expectOAuthError(await requestToken(balancer.port, most), 'unsupported_grant_type');
      expectOAuthError(await requestToken(balancer.port, most + 1), 'invalid_request', 413);
    });

    it('is never forwarded twice, because codes and refresh tokens work once', async () => {
      const dying = [await startDyingRelay(), await startDyingRelay()];
      try {
        balancer = await Balancer.start(
          kind,
          dying.map(({ port }) => port),
        );
        const { status, headers } = await requestToken(balancer.port, most);
        expect(status).to.be.oneOf([502, 503]);
        expect(headers['content-type']).to.match(/^application\/json/);
        expect(dying.flatMap(({ requests }) => requests)).to.deep.equal([path]);
      } finally {
        for (const relay of dying) await relay.close();
      }
    });
  });
}
