import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { RawConnection } from '../../harness/client/raw-connection.ts';
import { eventually } from '../../harness/system/eventually.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Balancer } from './support/balancer.ts';
import { type Application, type Relay, startApplication, startRelay } from './support/guarded-application.ts';
import { impatientGuards } from './support/kinds.ts';

/** The announced and the sent part of a body. */
const neverSent: Readonly<Record<string, readonly [method: string, announced: string, sent: string]>> = {
  'a body of one byte': ['POST', 'Content-Length: 20000', 'a'],
  'a body longer than the buffers': ['POST', 'Content-Length: 200000', 'a'.repeat(100_000)],
  'the body of a GET': ['GET', 'Content-Length: 20000', 'a'],
  chunks: ['POST', 'Transfer-Encoding: chunked', '1\r\na\r\n'],
};

const tlsOf = ({ tlsPort }: Balancer) => ({ port: tlsPort, host: '127.0.0.1', rejectUnauthorized: false });

let application: Application;
for (const [name, kind] of Object.entries(impatientGuards(() => application.port))) {
  const { describe } = needsPrograms(kind.program);

  describe(`${name}, configured as in deploy, but with less patience for uploads`, () => {
    let relay: Relay;
    let proxy: Balancer;

    before('start them', async () => {
      [relay, application] = await Promise.all([startRelay(), startApplication()]);
      proxy = await Balancer.start(kind, [relay.port]);
    });
    after('stop them', async () => {
      await proxy.stop();
      await Promise.all([relay.close(), application.close()]);
    });

    const say = async (method: string, path: string, rest: string) =>
      (await RawConnection.open(proxy.port)).say(
        `${method} ${path} HTTP/1.1\r\nHost: notes.example.com\r\nAuthorization: Bearer ${relay.token}\r\n${rest}`,
      );

    for (const [what, [method, announced, sent]] of Object.entries(neverSent)) {
      it(`ends 32 uploads that are announced and never sent: ${what}`, async () => {
        const uploads = await Promise.all(
          Array.from({ length: 32 }, () => say(method, '/upload', `${announced}\r\n\r\n${sent}`)),
        );
        await Promise.all(uploads.map(({ closed }) => closed));
        await eventually(async () => expect(application.open()).to.equal(0));
        expect(application.uploads).to.deep.equal([]);
      });
    }

    it('ends 32 uploads of one connection over HTTP/2, if it accepts HTTP/2', async () => {
      const socket = connectTls({ ...tlsOf(proxy), ALPNProtocols: ['h2'] });
      const isOver = new Promise((resolve) => socket.once('close', resolve).once('error', resolve));
      const session = connectHttp2('https://notes.example.com', { createConnection: () => socket });
      session.on('error', () => {});
      const head = { ':method': 'POST', ':path': '/upload', authorization: `Bearer ${relay.token}` };
      const uploads = Array.from({ length: 32 }, (_, index) => {
        const request = session.request({ ...head, ...(index % 2 === 0 && { 'content-length': '20000' }) });
        request.on('error', () => {}).resume();
        request.write('a');
        return new Promise((resolve) => request.once('close', resolve).once('end', resolve));
      });
      await Promise.race([Promise.all(uploads), isOver]);
      await eventually(async () => expect(application.open()).to.equal(0));
      expect(application.uploads).to.deep.equal([]);
      session.destroy();
      socket.destroy();
    });

    it('passes a long upload at once, and an answer that is silent for longer', async () => {
      const events = await say('POST', '/events', 'Content-Length: 4\r\n\r\nbody');
      await events.hear('text/event-stream');
      const stream = application.latest();
      const body = 'a'.repeat(200_000);
      const upload = await say('POST', '/upload', `Content-Length: ${body.length}\r\n\r\n${body}`);
      await upload.hear('ok');
      expect(application.uploads.splice(0).join()).to.match(/a{200000}$/);
      // As long as the proxy waits for an upload, and more.
      const waiting = await say('POST', '/upload', 'Content-Length: 20000\r\n\r\na');
      await waiting.closed;
      await eventually(async () => expect(application.open()).to.equal(1));
      stream.write('data: late\n\n');
      await events.hear('data: late');
      for (const one of [events, upload]) one.close();
    });
  });
}
