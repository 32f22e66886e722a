import { expect } from 'chai';
import { send } from '../harness/client/http-client.ts';
import { canary } from '../harness/expect/canaries.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { serveTcp } from '../harness/provider/serve.ts';
import { RelayProcess } from '../harness/relay/relay-process.ts';
import {
  callbackPath,
  frontendOrigin,
  loginPath,
  type RelayUnderTest,
  startRelay,
  userPath,
} from '../harness/relay/relay-under-test.ts';
import { eventually } from '../harness/system/eventually.ts';
import { freePort } from '../harness/system/free-port.ts';

describe('metrics', () => {
  let underTest: RelayUnderTest;
  before(async () => {
    underTest = await startRelay({ 'metrics-port': '0' });
    await underTest.get(loginPath);
    await underTest.logIn(canary('code'));
    await underTest.lookUp();
    await underTest.get(`/unknown/${canary('code')}`);
    await underTest.get('/auth/provider/callback');
    underTest.provider.onToken = json({ error: 'bad_verification_code' });
    await underTest.logIn(canary('code'));
  });
  after(() => underTest.stop());

  it('count requests by route and status, logins by reason, and calls by endpoint and outcome', async () => {
    const token = 'endpoint="token",outcome="answered"';
    const lines = (await underTest.metrics()).replaceAll('login_relay_', '').split('\n');
    expect(lines).to.include.members([
      'requests_total{route="/auth/provider",status="307"} 1',
      'requests_total{route="/auth/provider/callback",status="307"} 1',
      'requests_total{route="/auth/provider/callback",status="400"} 2',
      'requests_total{route="/api/user",status="200"} 1',
      // Paths without a route.
      'requests_total{route="none",status="404"} 1',
      'request_duration_seconds_count{route="/api/user",status="200"} 1',
      'logins_started_total 1',
      'logins_finished_total 1',
      'logins_failed_total{reason="query_missing"} 1',
      'logins_failed_total{reason="code_refused"} 1',
      `provider_calls_total{${token},status="2xx"} 2`,
      'provider_calls_total{endpoint="user",outcome="answered",status="2xx"} 1',
      `provider_call_duration_seconds_count{${token}} 2`,
      'provider_calls_in_flight 0',
    ]);
  });

  it('distinguish starts of probes from starts of browsers', async () => {
    const counted = async (which: string) => {
      const line = new RegExp(`^login_relay_logins_started${which}_total (\\d+)$`, 'm');
      return Number(line.exec(await underTest.metrics())?.[1] ?? 0);
    };
    const both = async () => [await counted(''), await counted('_by_probes')];
    const [all = 0, probes = 0] = await both();
    const navigation: [string, string][] = [
      ['Accept', 'text/html,application/xhtml+xml,*/*;q=0.8'],
      ['Sec-Fetch-Mode', 'navigate'],
    ];
    await underTest.send({ path: '/auth/provider', headers: navigation });
    await underTest.send({ path: '/auth/provider', headers: [['Accept', '*/*']] });
    await underTest.send({ path: '/auth/provider', method: 'HEAD', headers: [] });
    expect(await both()).to.deep.equal([all + 2, probes + 1]);
  });

  it('count the error codes of the provider by endpoint, and unknown codes together', async () => {
    await underTest.get('/auth/provider/callback?error=server_error');
    await underTest.get('/auth/provider/callback?error=h0st1le');
    await underTest.get('/auth/provider/callback?error=__proto__');
    const text = await underTest.metrics();
    expect(text.split('\n').filter((line) => line.startsWith('login_relay_provider_errors_total{'))).to.have.members([
      'login_relay_provider_errors_total{endpoint="token",code="bad_verification_code"} 1',
      'login_relay_provider_errors_total{endpoint="authorize",code="server_error"} 1',
      'login_relay_provider_errors_total{endpoint="authorize",code="other"} 2',
    ]);
  });

  it('count callbacks that were excused from the state check', async () => {
    const excused = 'login_relay_callbacks_excused_total';
    const before = Number(new RegExp(`^${excused} (\\d+)$`, 'm').exec(await underTest.metrics())?.[1]);
    expect(before).to.be.above(0);
    await underTest.send({
      path: '/auth/provider/callback?code=a',
      headers: [['Sec-Fetch-Site', 'none']],
    });
    await underTest.get('/auth/provider');
    expect(await underTest.metrics()).to.contain(`${excused} ${before}\n`);
    await underTest.logIn();
    expect(await underTest.metrics()).to.contain(`${excused} ${before + 1}\n`);
  });

  it('show the build, the process and its event loop', async () => {
    const text = await underTest.metrics();
    expect(text).to.match(/login_relay_build_info\{version="[\d.]+",node="[\d.]+"\} 1/);
    expect(text).to.match(/nodejs_eventloop_lag_p99_seconds \d/);
    expect(text).to.match(/process_resident_memory_bytes \d/);
    expect(text).to.contain('login_relay_ready 1\n');
  });

  it('have no label from a request, whatever it contains', async () => {
    const mark = 'h0st1le';
    const known = ['GET', 'PUT', 'PROPFIND', 'OPTIONS'];
    for (const [index, method] of known.entries()) {
      for (const path of [userPath, callbackPath, `/${mark}-${index}`, `/auth/${mark}`, '/healthz']) {
        const marked = `${mark}-${method}-${index}`;
        await underTest.send({
          method,
          path: `${path}?${marked}=${canary('code')}&error=${marked}&state=${marked}`,
          headers: [
            ['User-Agent', marked],
            ['Origin', `https://${marked}.example`],
            ['X-Request-Id', marked],
            ['Authorization', `${marked} ${canary('token')}`],
            ['Cookie', `__Host-Http-lr_login_${marked}=${marked}`],
            ['X-Forwarded-For', marked],
          ],
        });
      }
    }
    await underTest.sendBytes(`${mark} /${mark} HTTP/1.1\r\nHost: ${mark}\r\n\r\n`);
    await underTest.sendBytes(`GET /${mark} ${mark}/1.1\r\nHost: ${mark}\r\n\r\n`);
    const text = await underTest.metrics();
    expect(text)
      .not.to.contain(mark)
      .and.not.match(/c4n4ry/i);
    const routes = new Set([...text.matchAll(/route="([^"]*)"/g)].map(([, route]) => route));
    expect([...routes]).to.have.members([loginPath, callbackPath, userPath, '/healthz', 'none']);
    const labels = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, label]) => label));
    for (const label of labels) {
      expect(label).to.be.oneOf([
        'route',
        'status',
        'endpoint',
        'outcome',
        'reason',
        'limit',
        'le',
        'version',
        'node',
        'major',
        'minor',
        'patch',
        'kind',
        'space',
        'type',
        'code',
      ]);
    }
  });

  it('are not served on the public port', async () => {
    expect((await underTest.get('/metrics')).status).to.equal(404);
  });

  it('are served while the relay still waits for its issuer', async () => {
    const connected = Promise.withResolvers<void>();
    const issuer = await serveTcp(() => connected.resolve());
    const metricsPort = await freePort();
    const relay = new RelayProcess({
      flags: {
        origin: frontendOrigin,
        'base-url': 'http://localhost:8000',
        'client-id': 'client-1',
        issuer: `http://127.0.0.1:${issuer.port}`,
        port: '0',
        'metrics-port': `${metricsPort}`,
      },
      env: { PROVIDER_CLIENT_SECRET: canary('secret') },
    });
    await connected.promise;
    const answered = await eventually(() => send(metricsPort, { path: '/metrics' }));
    expect(answered.status).to.equal(200);
    expect(answered.body.toString()).to.contain('login_relay_provider_calls_in_flight 0');
    expect(answered.body.toString()).to.contain('login_relay_ready 0\n');
    await issuer.close();
    await relay.logLine(({ msg }) => msg === 'listening');
    expect(await relay.stop()).to.include({ code: 0, stderr: '' });
  });
});
