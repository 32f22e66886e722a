import { expect } from 'chai';
import { json } from '../harness/provider/provider-behaviours.ts';
import { clientsRelay, jsonOf } from './support/clients-relay.ts';

const redirect_uri = 'com.example.tools:/callback';
const relay = clientsRelay(() => ({
  frontEnds: `  tools: { kind: native, refresh-tokens: bearer, redirect-uris: [${redirect_uri}] }`,
}));

async function logIn(): Promise<string> {
  const { start, code } = await relay().logIn({ client_id: 'tools', redirect_uri });
  return `${jsonOf(await relay().redeem(start, code))['refresh_token']}`;
}

const refresh = async (token: string) => await relay().refresh('tools', token);

async function logOut(token: string): Promise<void> {
  expect((await relay().post('revoke', { client_id: 'tools', token })).status).to.equal(200);
}

describe('the log-out of a program', () => {
  it('ends its login, whatever the provider revokes', async () => {
    const { mood } = relay().provider;
    for (const rotation of ['rotates', 'keeps', 'none'] as const) {
      mood.rotation = rotation;
      relay().provider.onRevocation = json({});
      const token = await logIn();
      await logOut(token);
      expect((await refresh(token)).status, rotation).to.equal(400);
    }
  });

  it('ends its login also with a refresh token that a thief has replaced long ago', async () => {
    const stolen = await logIn();
    relay().ahead = 31_000;
    const ofThief = `${jsonOf(await refresh(stolen))['refresh_token']}`;
    relay().ahead += 70_000;
    // Most servers answer in this way if a token is not valid any more.
    relay().provider.onRevocation = json({});
    await logOut(stolen);
    expect((await refresh(ofThief)).status).to.equal(400);
  });
});
