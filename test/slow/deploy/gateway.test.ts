import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { FakeBrowser } from '../../harness/browser/fake-browser.ts';
import { logInTo, redemption, requestToken } from '../../harness/login/oauth-front-end.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { RefreshingProvider } from '../../harness/provider/refreshing-provider.ts';
import { type Serving, serve } from '../../harness/provider/serve.ts';
import { baseUrl, keyFile, type Relay, secretFile, useRelays } from '../../harness/relay/relay-under-test.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { MemoryServer, memoryProgram } from '../../harness/system/memory-server.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { ada, type Tokens, tokensOf } from '../../resources/support/resources-relay.ts';
import { Balancer } from './support/balancer.ts';
import { streamingKinds, takeOut, undrain } from './support/kinds.ts';

/** Seconds until the server answers. A relay that stops waits for 30. */
const answerTime = Number(process.env['ANSWER_SECONDS'] ?? 3);

needsPrograms('haproxy', memoryProgram).describe(
  'three relays with one memory behind HAProxy, in front of one server',
  () => {
    const start = useRelays();
    let provider: RefreshingProvider;
    let memory: MemoryServer;
    let upstream: Serving;
    let relays: Relay[];
    let balancer: Balancer;
    let startAt: (port: number) => Promise<Relay>;

    before('start them', async () => {
      provider = await RefreshingProvider.start();
      provider.knows(json(ada));
      memory = await MemoryServer.start();
      upstream = await serve(({ method, headers }, response) => {
        const isListening = method === 'GET';
        response.writeHead(200, {
          'Content-Type': isListening ? 'text/event-stream' : 'text/plain',
        });
        response.write(`data: ${headers['x-forwarded-user']}\n\n`);
        if (!isListening) setTimeout(() => response.end('done'), answerTime * 1000);
      });
      const config = await secretFile(`resources:
  notes: { url: ${baseUrl}/mcp, upstream: http://127.0.0.1:${upstream.port}/mcp }
front-ends:
  app: { origin: https://app.example, token-delivery: code, refresh-tokens: bearer, resources: [notes] }
`);
      const files = { config, 'key-file': await keyFile() };
      const shared = { 'shared-memory': memory.address, ...provider.flags, ...files };
      startAt = (port) =>
        start({
          client: provider.registration,
          flags: { ...shared, origin: undefined, port: `${port}` },
        });
      const ports = [await freePort(), await freePort(), await freePort()];
      relays = await Promise.all(ports.map(startAt));
      const { haproxy } = streamingKinds;
      if (haproxy === undefined) throw new Error('deploy has nothing for HAProxy');
      balancer = await Balancer.start(haproxy, ports);
      for (const name of names) await undrain(balancer, name);
    });
    after('stop them', async () => {
      await balancer.stop();
      await Promise.all(relays.map((relay) => relay.stop()));
      await upstream.close();
      await memory.stop();
      await provider.stop();
    });

    async function logIn(): Promise<Tokens> {
      const login = await logInTo(new FakeBrowser(() => balancer), { provider });
      return tokensOf(await requestToken(balancer, redemption(login)));
    }

    async function ask(port: number, method: string, { access_token }: Tokens) {
      const headers = { Host: 'relay.example', Authorization: `Bearer ${access_token}` };
      const at = { host: '127.0.0.1', port, path: '/mcp', agent: false } as const;
      const sent = httpRequest({ ...at, method, headers }).end();
      const [response]: IncomingMessage[] = await once(sent, 'response');
      if (response === undefined) throw new Error('no response');
      return { status: response.statusCode, body: text(response) };
    }

    it('end the streams of a login that ends at another relay, within a minute, and no others', async () => {
      const ending = await logIn();
      const staying = await logIn();
      const [first, second] = relays;
      if (first === undefined || second === undefined) throw new Error('there are no relays');
      const stream = await ask(first.port, 'GET', ending);
      const other = await ask(first.port, 'GET', staying);
      const form = `client_id=app&token=${encodeURIComponent(ending.access_token)}`;
      const { status } = await second.send({
        method: 'POST',
        path: '/auth/provider/revoke',
        headers: [
          ['Content-Type', 'application/x-www-form-urlencoded'],
          ['Content-Length', `${form.length}`],
        ],
        body: form,
      });
      const start = performance.now();
      expect([status, await stream.body]).to.deep.equal([200, 'data: 42\n\n']);
      expect(performance.now() - start).to.be.below(60_000);
      expect(await Promise.race([other.body, delay(100, 'open')])).to.equal('open');
    });

    it(`lose no answer of ${answerTime} s while they are restarted in turn`, async function () {
      this.timeout(120_000 + answerTime * 6_000);
      const tokens = await logIn();
      const answers: Promise<string>[] = [];
      const load = setInterval(
        () => {
          const answer = ask(balancer.port, 'POST', tokens);
          answers.push(
            answer.then(
              async ({ status, body }) => `${status} ${await body}`,
              (error) => `${error}`,
            ),
          );
        },
        (answerTime * 1000) / 15,
      );
      for (const [index, name] of names.entries()) {
        await delay((answerTime * 1000) / 3);
        await takeOut(balancer, name);
        const { port } = relays[index] ?? expect.fail();
        expect(await relays[index]?.process.stop()).to.include({ code: 0 });
        relays[index] = await startAt(port);
        await undrain(balancer, name);
      }
      clearInterval(load);
      const seen = await Promise.all(answers);
      expect(new Set(seen)).to.deep.equal(new Set(['200 data: 42\n\ndone']));
      process.stdout.write(`    ${seen.length} answers, all complete\n`);
    });
  },
);

const names = ['relay1', 'relay2', 'relay3'];
