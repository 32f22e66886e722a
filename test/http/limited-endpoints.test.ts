import { expect } from 'chai';
import { DoorRelay, wiki } from '../browsers/support/door-relay.ts';
import { sessionOrigin } from '../harness/login/session-page.ts';
import { documentedEndpoints } from '../harness/project/documented-endpoints.ts';
import { relayOfFile } from '../harness/relay/relay-of-file.ts';

const settings = {
  relay: `rate-limit: 1
resources:
  wiki: { url: ${wiki}/, browser: true, upstream: 'http://127.0.0.1:1/', secret-file: ./secret }
`,
  frontEnds: `  app: { origin: https://app.example, token-delivery: code, resources: [wiki] }
  page: { origin: ${sessionOrigin}, token-delivery: session, proxy: [{ path: /api/things/, url: 'http://127.0.0.1:1/' }] }
  tools: { kind: native, clients: { registration: true }, resources: [wiki] }
`,
  files: { './secret': 'a secret of thirty-two characters or more' },
};

const authorizationServer = '/.well-known/oauth-authorization-server';
const protectedResource = '/.well-known/oauth-protected-resource';
const endpoints = documentedEndpoints({
  provider: 'provider',
  'front end': 'app',
  resource: 'wiki',
  url: `${wiki}/`,
  path: '/api/things/1',
  [authorizationServer]: `${authorizationServer}/auth/provider`,
  [protectedResource]: `${protectedResource}/`,
});

describe('the rate limit, once it is reached,', () => {
  const relay = relayOfFile(() => DoorRelay.start(settings));
  const statusOf = async (method: string, address: string) => {
    const isAtDoor = address.startsWith('/.login-relay/');
    const { host, pathname } = new URL(address, isAtDoor ? wiki : relay().address);
    // With a state that no front end has sent, the callback answers in place.
    return (await relay().send({ method, path: `${pathname}?state=x`, authority: host })).status;
  };
  before(async () => {
    await statusOf('GET', '/api/user');
  });

  for (const { addresses, method, isLimited } of endpoints) {
    for (const address of addresses) {
      it(`${isLimited ? 'refuses' : 'does not count'} ${method} ${address}, as docs/http-api.md says`, async () => {
        expect((await statusOf(method, address)) === 429).to.equal(isLimited);
      });
    }
  }
});
