import { expect } from 'chai';
import { createMetricsListener } from '../../src/observability/metrics-port.ts';
import { send } from '../harness/client/http-client.ts';
import { serve } from '../harness/provider/serve.ts';

const metrics = {
  contentType: 'text/plain',
  text: async () => 'login_relay_ready 1\n',
  observe() {},
  observeUnreadable() {},
  limitHit() {},
};

/** For each `--metrics-host`, the hosts that get an answer, and the hosts that do not. */
const hosts = {
  '127.0.0.1': {
    answered: ['127.0.0.1:9464', '127.0.0.1', 'localhost:9464', 'LOCALHOST', 'relay1.example.com:9464'],
    refused: ['[::1]:9464', '10.0.0.7:9464', 'relay:9464', 'relay.internal', 'relay.localhost'],
  },
  // A pod, or a container with a published port.
  '0.0.0.0': {
    answered: [
      '127.0.0.1:9464',
      '10.0.0.7:9464',
      '[2001:db8::7]:9464',
      'localhost',
      'Relay1.Example.com',
      'login-relay:9464',
      'login_relay:9464',
      'host.docker.internal:9464',
      'relay.monitoring.svc',
      'relay.monitoring.svc.cluster.local:9464',
      'relay.monitoring.svc.cluster.local.',
      'relay.localhost',
    ],
    refused: ['10.0.0.7.nip.io', 'ai.', 'relay.internal.evil.example', 'relayinternal.example', 'relay2.example.com'],
  },
  '::': { answered: ['127.0.0.1', '[::1]', '[::ffff:10.0.0.7]', 'relay'], refused: ['relay.example'] },
  '::1': { answered: ['[::1]:9464', '[0:0::1]', '127.0.0.1'], refused: ['[::2]', '10.0.0.7', 'relay'] },
  // A name for an address of this machine, which is the loopback address here.
  'Relay.internal': {
    answered: ['relay.internal:9464', '127.0.0.1:9464', 'localhost:9464'],
    refused: ['other.internal', '10.0.0.7', 'relay.internal.evil.example'],
  },
};
const neverAnswered = [
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'evil.internal.com',
  '',
  ':',
  '.',
];

describe('the metrics port', () => {
  for (const [host, { answered, refused }] of Object.entries(hosts)) {
    it(`with --metrics-host ${host} answers only under names that nobody else can have`, async () => {
      const logged: unknown[] = [];
      const logger = { warn: (fields: unknown) => logged.push(fields) };
      const where = { host, port: 9464, names: ['relay1.example.com'] };
      const server = await serve(createMetricsListener(metrics, where, logger));
      try {
        for (const authority of answered) {
          const { status } = await send(server.port, { path: '/metrics', authority });
          expect(status, authority).to.equal(200);
        }
        expect(logged).to.deep.equal([]);
        for (const authority of [...refused, ...neverAnswered]) {
          const { status, body } = await send(server.port, { path: '/metrics', authority });
          expect(status, authority).to.equal(421);
          expect(`${body}`)
            .to.match(/--metrics-names/)
            .and.not.match(/login_relay/);
        }
        expect(logged).to.deep.include({ host: 'evil.example' });
      } finally {
        await server.close();
      }
    });
  }

  it('writes the metrics once for all requests at the same time, and never before a request', async () => {
    let texts = 0;
    const counted = {
      ...metrics,
      text: async () => {
        texts += 1;
        return `text ${texts}\n`;
      },
    };
    const where = { host: '127.0.0.1', port: 9464, names: [] };
    const listener = createMetricsListener(counted, where, { warn() {} });
    const ask = async () => {
      const written: unknown[] = [];
      const response = { writeHead: () => ({ end: (text: string) => written.push(text) }) };
      const request = { method: 'GET', url: '/metrics', headers: { host: 'localhost' }, socket: {} };
      await Reflect.apply(listener, undefined, [request, response]);
      return written;
    };
    const together = await Promise.all(Array.from({ length: 64 }, ask));
    expect(new Set(together.flat())).to.deep.equal(new Set(['text 1\n']));
    expect(await ask()).to.deep.equal(['text 2\n']);
  });

  it('warns of a host once, and names none that is too long', async () => {
    const logged: unknown[] = [];
    const logger = { warn: (fields: unknown) => logged.push(fields) };
    const server = await serve(createMetricsListener(metrics, { host: '127.0.0.1', port: 0, names: [] }, logger));
    for (const authority of ['evil.example', 'evil.example', `${'a'.repeat(300)}.example`]) {
      expect((await send(server.port, { path: '/metrics', authority })).status).to.equal(421);
    }
    expect(logged).to.deep.equal([{ host: 'evil.example' }, { host: '' }]);
    await server.close();
  });
});
