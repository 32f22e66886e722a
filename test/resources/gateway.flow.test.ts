import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import { FakeBrowser } from '../harness/browser/fake-browser.ts';
import { RawConnection } from '../harness/client/raw-connection.ts';
import { logInTo, redemption } from '../harness/login/oauth-front-end.ts';
import { OAuthPage } from '../harness/login/oauth-page.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { serve, serveTcp } from '../harness/provider/serve.ts';
import { useRefreshingRelay } from '../harness/relay/refreshing-relay.ts';
import { baseUrl, keyFile, secretFile } from '../harness/relay/relay-under-test.ts';
import { startedOnce } from '../harness/system/started-once.ts';
import { ada, tokensOf } from './support/resources-relay.ts';
import { closing, frame, opening, switching } from './support/websocket-relay.ts';

/** The options of a relay with the resource `notes` in front of a server, and of a page that uses it. */
const optionsFor = async (port: number) => ({
  origin: undefined,
  'key-file': await keyFile(),
  config: await secretFile(`resources:
  notes: { url: ${new URL(baseUrl).origin}/notes, upstream: http://127.0.0.1:${port}/mcp }
front-ends:
  app: { origin: https://app.example, token-delivery: code, resources: [notes] }
`),
});

describe('a relay with streams through its gateway', () => {
  const open: ServerResponse[] = [];
  const upstream = startedOnce(
    'the server',
    () =>
      serve((request, response) => {
        request.resume();
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
        open.push(response);
      }),
    (one) => one.close(),
  );
  const { underTest } = useRefreshingRelay(() => optionsFor(upstream().port));

  it('keeps them during a reload, ends those that listen when it stops, and waits for the answers', async () => {
    const { relay, provider } = underTest();
    provider.knows(json(ada));
    const page = new OAuthPage(relay, provider, undefined);
    const login = await logInTo(new FakeBrowser(() => relay), { provider });
    const { access_token: accessToken } = tokensOf(await page.request(redemption(login)));
    const begin = async (method: string) => {
      const headers = { Host: 'relay.example', Authorization: `Bearer ${accessToken}` };
      const at = { host: '127.0.0.1', port: relay.port, path: '/notes', agent: false } as const;
      const sent = httpRequest({ ...at, method, headers }).end();
      const [response]: IncomingMessage[] = await once(sent, 'response');
      if (response === undefined) throw new Error('no response');
      return response.setEncoding('utf8');
    };
    const listening = [await begin('GET'), await begin('GET')];
    const answer = await begin('POST');
    await relay.reload();
    for (const [index, one] of [...listening, answer].entries()) {
      open[index]?.write('data: 1\n\n');
      expect(await once(one, 'data')).to.deep.equal(['data: 1\n\n']);
    }
    const over = listening.map((one) => once(one, 'end'));
    const last = once(answer, 'data');
    const ended = relay.process.stop('SIGTERM');
    await Promise.all(over);
    open.at(-1)?.end('data: 2\n\n');
    expect(await last).to.deep.equal(['data: 2\n\n']);
    expect(await ended).to.include({ code: 0 });
    const ends = relay.process.logLines.flatMap((line) => line['ended'] ?? []);
    expect(ends).to.deep.equal(['stop', 'stop', 'upstream']);
  });
});

describe('a relay with WebSockets through its gateway', () => {
  const upstream = startedOnce(
    'the server',
    () =>
      serveTcp((socket) => {
        socket.once('data', () => {
          socket.write(switching());
          socket.on('data', () => socket.write(frame('hello')));
        });
      }),
    (one) => one.close(),
  );
  const { underTest } = useRefreshingRelay(() => optionsFor(upstream().port));

  it('keeps them during a reload, and tells their clients when it stops', async () => {
    const { relay, provider } = underTest();
    provider.knows(json(ada));
    const page = new OAuthPage(relay, provider, undefined);
    const login = await logInTo(new FakeBrowser(() => relay), { provider });
    const { access_token: accessToken } = tokensOf(await page.request(redemption(login)));
    const clients = await Promise.all([1, 2, 3].map(() => RawConnection.open(relay.port)));
    for (const client of clients) {
      client.say(opening(accessToken, { Host: 'relay.example' }, 'GET /notes HTTP/1.1'));
      await client.hear('\r\n\r\n');
    }
    await relay.reload();
    for (const client of clients) await client.say('hello').hear('hello');
    const ended = relay.process.stop('SIGTERM');
    await Promise.all(clients.map(({ closed }) => closed));
    for (const { heard } of clients) expect(heard.endsWith(closing(1001, 'stop'))).to.equal(true);
    expect(await ended).to.include({ code: 0 });
    const lines = relay.process.logLines.filter(({ status }) => status === 101);
    expect(lines.map((line) => line['ended'])).to.deep.equal(['stop', 'stop', 'stop']);
  });
});
