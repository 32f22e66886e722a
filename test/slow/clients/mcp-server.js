// An MCP server that asks the relay who a person is: node mcp-server.js RELAY PORT
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { mcpAuthMetadataRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';

const [relay, port] = process.argv.slice(2);
const origin = `http://127.0.0.1:${port}`;
const metadata = await fetch(`${relay}/.well-known/oauth-authorization-server/auth/provider`);
const oauthMetadata = await metadata.json();

async function verifyAccessToken(token) {
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await fetch(`${relay}/api/user`, { headers });
  const isInvalid = answer.headers.get('WWW-Authenticate')?.includes('invalid_token');
  if (isInvalid) throw new InvalidTokenError('The provider does not accept the token');
  if (!answer.ok) throw new Error('The provider does not answer: the client keeps its token');
  const { login } = await answer.json();
  const expiresAt = Math.floor(Date.now() / 1000) + 60;
  return { token, clientId: login, scopes: [], expiresAt, extra: { login } };
}

const app = express();
app.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl: new URL(`${origin}/mcp`) }));
app.use(
  '/mcp',
  requireBearerAuth({
    resourceMetadataUrl: `${origin}/.well-known/oauth-protected-resource/mcp`,
    verifier: { verifyAccessToken },
  }),
);
app.post('/mcp', express.json(), async (request, response) => {
  const server = new McpServer({ name: 'test', version: '1' });
  const text = ({ authInfo }) => ({ content: [{ type: 'text', text: authInfo.extra.login }] });
  server.registerTool('whoami', {}, text);
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});
app.listen(Number(port), '127.0.0.1', () => console.log('listening'));
