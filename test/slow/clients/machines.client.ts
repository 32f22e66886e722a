import {
  Client,
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { startedOnce } from '../../harness/system/started-once.ts';
import { GatewayRig, machineKey, machineSecret } from './support/gateway-rig.ts';

describe('a machine without a person uses a server of MCP behind the gateway with', () => {
  const rig = startedOnce('the relay and the servers', GatewayRig.start, (one) => one.stop());
  beforeEach(() => rig().forget());

  const privateKey = machineKey.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const expectedIssuer = () => `${rig().relay.address}/auth/provider`;
  for (const [name, createProvider] of Object.entries({
    ClientCredentialsProvider: () =>
      new ClientCredentialsProvider({
        clientId: 'ci',
        clientSecret: machineSecret,
        expectedIssuer: expectedIssuer(),
      }),
    PrivateKeyJwtProvider: () =>
      new PrivateKeyJwtProvider({
        clientId: 'robot',
        privateKey,
        algorithm: 'ES256',
        expectedIssuer: expectedIssuer(),
      }),
  })) {
    it(`${name} of MCP's client 2.4, unmodified, even if its token is not good any more`, async () => {
      const authProvider = createProvider();
      const client = new Client({ name: 'machine', version: '1' });
      const transport = new StreamableHTTPClientTransport(new URL(rig().urls.everything), { authProvider });
      const echo = async () => JSON.stringify(await client.callTool({ name: 'echo', arguments: { message: 'hello' } }));
      try {
        await client.connect(transport);
        expect(await echo()).to.contain('Echo: hello');
        const { access_token: first = '', ...others } = authProvider.tokens() ?? { token_type: '' };
        // The clock of the machine signs, so the relay's cannot go ahead to end the token.
        authProvider.saveTokens({ ...others, access_token: first.slice(0, -1) });
        expect(await echo()).to.contain('Echo: hello');
        expect(authProvider.tokens()?.access_token).to.not.equal(first);
        expect(rig().logins).to.deep.equal([]);
        expect(rig().relay.provider.calls).to.deep.equal([]);
      } finally {
        await client.close();
      }
    });
  }
});
