import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { checkReach } from '../../src/check/upstream.ts';
import { serve } from '../harness/provider/serve.ts';
import { secretFile } from '../harness/relay/relay-under-test.ts';
import { keyLines } from '../harness/system/secret-file.ts';
import { diagnoseFile } from './support/check.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** The report of `check` about an upstream, and the methods of the requests to it. */
async function diagnosed(answer: Answer) {
  const methods: (string | undefined)[] = [];
  const server = await serve((request, response) => {
    methods.push(request.method);
    request.resume().once('end', () => answer(request, response));
  });
  try {
    const { report } = await diagnoseFile(`base-url: http://localhost:9
key-file: ${await secretFile(keyLines)}
providers: { github: { client-id: a, client-secret: b, ${['authorize', 'token', 'user'].map((name) => `${name}-url: http://127.0.0.1:9/${name}`).join(', ')} } }
resources:
  notes: { url: http://localhost:9/mcp, upstream: http://127.0.0.1:${server.port}/mcp }
front-ends:
  app: { origin: http://localhost:9, token-delivery: code, resources: [notes] }
`);
    const said = report.findings
      .filter(({ subject }) => /^(upstream|event stream|MCP transport) \(notes\)$/.test(subject))
      .map(({ subject, verdict, message }) => `${subject.replace(' (notes)', '')}: ${verdict}: ${message}`);
    return { said, methods };
  } finally {
    await server.close();
  }
}

const stream = { 'Content-Type': 'text/event-stream' };
const event = 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n';
const refusal = JSON.stringify({
  jsonrpc: '2.0',
  error: { code: -32000, message: 'no' },
  id: null,
});
/** The answer of an MCP server to a POST. */
const mcp =
  (post: Answer): Answer =>
  (request, response) =>
    request.method === 'POST' ? post(request, response) : response.writeHead(405).end(refusal);

describe('login-relay check asks the upstream of a resource itself', () => {
  it('and says its status, whatever it is, and sends no POST to what may be no MCP server', async () => {
    const { said, methods } = await diagnosed((_, response) => response.writeHead(404).end('{}'));
    expect(said).to.deep.equal(['upstream: ok: answers (status 404), and sends no event stream']);
    expect(methods).to.deep.equal(['GET']);
  });

  it('and says what keeps it from being used', async () => {
    const about = async (answer: Answer) => (await diagnosed(answer)).said.join();
    expect(await about((_, response) => response.destroy())).to.match(/^upstream: warning: .*was cut/);
    expect(await about((_, response) => response.writeHead(503).end())).to.match(
      /^upstream: warning: does not work now \(status 503\)$/,
    );
    expect(await about((_, response) => response.writeHead(401).end())).to.match(
      /^upstream: not_checked: refuses a request without identity \(status 401\)$/,
    );
  });

  it('and says that a server of the older transport needs its own host', async () => {
    const told = (path: string) =>
      diagnosed((_, response) => response.writeHead(200, stream).write(`event: endpoint\r\ndata: ${path}\r\n\r\n`));
    const { said } = await told('/messages?sessionId=secret');
    expect(said).to.include(
      'MCP transport: warning: the upstream is an MCP server of the older transport (SSE): its clients post to /messages, which is not below the resource',
    );
    expect(said.join()).not.to.contain('secret');
    for (const path of ['/mcp/messages', 'http://127.0.0.1:9/mcp/messages', 'mcp']) {
      expect((await told(path)).said.join(), path).not.to.contain('older transport');
    }
  });

  it('and sees an event before the end of its stream', async () => {
    const live = 'event stream: ok: an event of the upstream came before its stream ended';
    const open: Answer = (_, response) => response.writeHead(200, stream).write(event);
    const seen = await diagnosed(open);
    expect(seen).to.deep.equal({
      said: ['upstream: ok: answers (status 200)', live],
      methods: ['GET'],
    });
    const late = mcp((_, response) => {
      response.writeHead(200, stream).write(event);
      setTimeout(() => response.end(), 300);
    });
    expect((await diagnosed(late)).said).to.include(live);
    const ofSession: Answer = (request, response) => {
      const isGet = request.method === 'GET';
      const { 'mcp-session-id': session } = request.headers;
      if (isGet && session === undefined) response.writeHead(400).end(refusal);
      else response.writeHead(200, { ...stream, 'Mcp-Session-Id': 'one' });
      if (response.writableEnded) return;
      if (isGet) response.write(event);
      else response.end(event);
    };
    const listened = await diagnosed(ofSession);
    expect(listened.said).to.include(live);
    expect(listened.methods).to.deep.equal(['GET', 'POST', 'GET', 'DELETE']);
  });

  it('and does not say so of what may have been held back', async () => {
    const unseen = 'whether events arrive at once was not seen';
    const whole = mcp((_, response) => response.writeHead(200, stream).end(event));
    expect((await diagnosed(whole)).said).to.deep.equal([
      'upstream: ok: answers (status 405)',
      `event stream: not_checked: the upstream sent a stream, but no event before its end: ${unseen}`,
    ]);
    const silent: Answer = (_, response) => response.writeHead(200, stream).flushHeaders();
    expect((await diagnosed(silent)).said.join()).to.match(/not_checked: the upstream sent a stream/);
    const json = mcp((_, response) => response.end(refusal));
    expect((await diagnosed(json)).said).to.include(
      `event stream: not_checked: the upstream sent no event stream: ${unseen}`,
    );
  });

  it('and says if others may reach it', async () => {
    const far = await checkReach(new URL('http://notes:9000/mcp'));
    expect(far.map(({ verdict }) => verdict)).to.deep.equal(['not_checked']);
    const server = await serve((_, response) => response.end());
    const url = new URL(`http://127.0.0.1:${server.port}/`);
    expect(await checkReach(url)).to.deep.equal([]);
    const [found] = await checkReach(url, ['127.0.0.2', '127.0.0.1']);
    expect(found?.message).to.match(/^something listens on port \d+ of 127.0.0.1 as well/);
    await server.close();
  });
});
