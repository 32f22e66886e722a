// An MCP server with one tool, which says who the person is. It believes the headers of a proxy, or asks the relay:
// node mcp-server.js PORT [RESOURCE ISSUER SECRET]
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthMetadataRouter,
} from '@modelcontextprotocol/sdk/server/auth/router.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';
import * as oidc from 'openid-client';

const [port, resource, issuer, secret] = process.argv.slice(2);

/** @returns what lets only those pass who have a token, and tells clients where to get one */
async function introspection() {
  const resourceServerUrl = new URL(resource);
  const config = await oidc.discovery(
    new URL(issuer),
    'introspected',
    undefined,
    oidc.ClientSecretBasic(secret),
    { algorithm: 'oauth2', execute: [oidc.allowInsecureRequests] },
  );
  async function verifyAccessToken(token) {
    const { active, aud, client_id, scope, exp, sub, username } = await oidc.tokenIntrospection(
      config,
      token,
    );
    if (!active || aud !== resource) throw new InvalidTokenError('It is not good here');
    const scopes = scope?.split(' ') ?? [];
    return { token, clientId: client_id, scopes, expiresAt: exp, extra: { sub, username } };
  }
  return [
    mcpAuthMetadataRouter({ oauthMetadata: config.serverMetadata(), resourceServerUrl }),
    requireBearerAuth({
      verifier: { verifyAccessToken },
      resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resourceServerUrl),
    }),
  ];
}

/** Who sends the request. */
const personOf = ({ authInfo, requestInfo: { headers } }) =>
  authInfo?.extra ?? {
    sub: headers['x-forwarded-user'],
    username: headers['x-forwarded-preferred-username'],
  };

const app = express();
if (resource !== undefined) app.use(await introspection());
app.post('/mcp', express.json(), async (request, response) => {
  const server = new McpServer({ name: 'test', version: '1' });
  server.registerTool('whoami', {}, (extra) => {
    const { sub, username } = personOf(extra);
    return { content: [{ type: 'text', text: `${username} is ${sub}` }] };
  });
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});
app.listen(Number(port), '127.0.0.1', () => console.log('listening'));
