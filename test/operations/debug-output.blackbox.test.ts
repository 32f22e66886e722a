import { expect } from 'chai';
import { send } from '../harness/client/http-client.ts';
import {
  baseUrl,
  frontendOrigin,
  listening,
  loginPath,
} from '../harness/relay/relay-under-test.ts';

describe('the debug output of libraries', () => {
  it('stays off, even where the environment asks for all of it', async () => {
    const { relay, port } = await listening({
      flags: { port: '0', origin: frontendOrigin, 'base-url': baseUrl, 'client-id': 'client' },
      env: { DEBUG: '*', PROVIDER_CLIENT_SECRET: 'secret' },
    });
    expect((await send(port, { path: `${loginPath}?state=a` })).status).to.equal(307);
    expect((await relay.stop()).stderr).to.equal('');
  });
});
