import { once } from 'node:events';
import { get } from 'node:http';
import { expect } from 'chai';
import { serve } from '../harness/provider/serve.ts';
import { createRelayHere } from '../harness/relay/relay-in-process.ts';

describe('a connection that breaks while its answer is written', () => {
  it('leaves its line in the log, and nothing on standard error', async () => {
    const lines: string[] = [];
    const relay = await createRelayHere({}, (line) => lines.push(line));
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
