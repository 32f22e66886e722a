// The limit of a user lookup: one call of got and one answer of node:http, and nothing else.
import { createServer, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got from 'got';
import { userUrl } from '../provider/endpoints.ts';
import { announce } from './announce.ts';
import { commonHeaders, crossOrigin } from './headers.ts';

const kept = { keepAlive: true, maxSockets: 256 };
const client = got.extend({
  agent: { http: new HttpAgent(kept), https: new HttpsAgent(kept) },
  headers: { accept: 'application/json', 'accept-encoding': 'identity' },
  followRedirect: false,
  retry: { limit: 0 },
  responseType: 'buffer',
});

announce(
  createServer(async (incoming, response) => {
    const token = incoming.headers.authorization?.split(' ')[1] ?? '';
    const { body } = await client(userUrl, { headers: { authorization: `Bearer ${token}` } });
    response
      .writeHead(200, {
        ...commonHeaders(),
        ...crossOrigin,
        'Content-Type': 'application/json',
        'Content-Length': body.length,
      })
      .end(body);
  }),
);
