import proxy from '@fastify/http-proxy';
import fastify from 'fastify';
import { announce, origin } from '../registration.ts';
import { ownToken, personOf } from './own-tokens.js';

const app = fastify();
app.get('/own-token', () => ownToken);
app.register(proxy, {
  upstream: origin,
  prefix: '/mcp',
  rewritePrefix: '/mcp',
  websocket: true,
  async preHandler(request, reply) {
    try {
      request.person = await personOf(request.headers);
    } catch {
      await reply.code(401).send();
    }
  },
  replyOptions: {
    rewriteRequestHeaders({ person }, { authorization: _, ...headers }) {
      return { ...headers, 'x-forwarded-user': person };
    },
  },
});
await app.listen({ port: 0, host: '127.0.0.1' });
announce(app.server);
