import { once } from 'node:events';
import { get } from 'node:http';
import { expect } from 'chai';
import { pino } from 'pino';
import { readConfig } from '../../src/config/config.ts';
import { createRelay } from '../../src/relay/relay.ts';
import { serve } from '../harness/provider/serve.ts';

describe('a connection that breaks while its answer is written', () => {
  it('leaves its line in the log, and nothing on standard error', async () => {
    const lines: string[] = [];
    const logger = pino({}, { write: (line: string) => lines.push(line) });
    const { config } = readConfig({
      flags: {
        origin: ['https://app.example'],
        clientId: ['client'],
        clientSecret: ['a-client-secret-of-40-characters-0123456'],
      },
      environment: {},
      readFile: () => {
        throw new Error('there is no file to read');
      },
    });
    const relay = await createRelay(config, logger);
    const complaints: unknown[] = [];
    const { error: complain } = console;
    console.error = (...words: unknown[]) => complaints.push(words);
    const server = await serve((request, response) => {
      relay.listener(request, response);
      // The error of a write to a connection that the client has reset.
      response.destroy(Object.assign(new Error('write ECONNRESET'), { code: 'ECONNRESET' }));
    });
    try {
      const request = get({
        host: '127.0.0.1',
        port: server.port,
        path: '/auth/provider',
        headers: { Host: 'localhost:8000' },
      });
      await once(request, 'error');
      expect(complaints).to.deep.equal([]);
      const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
      expect(requests.map(({ outcome }) => outcome)).to.deep.equal(['client_gone']);
    } finally {
      console.error = complain;
      await server.close();
      relay.close();
    }
  });
});
