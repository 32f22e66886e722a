import { expect } from 'chai';
import type { Settings } from '../harness/relay/relay-of-file.ts';
import { keyLines } from '../harness/system/secret-file.ts';
import {
  bearer,
  check,
  files,
  introspect,
  logIn,
  notes,
  ofApp,
  resourcesRelay,
  settings,
  tokensOf,
} from './support/resources-relay.ts';

const newer = 'a new line of the key file, with 32 characters';
const withoutNotes: Settings = {
  ...settings,
  relay: `resources:\n  files: { url: ${files}, lifetime: 5, secret-file: ./files }\n`,
  frontEnds:
    '  app: { origin: https://app.example, token-delivery: code, refresh-tokens: bearer, resources: [files] }\n',
};
const withNewKey: Settings = { ...settings, files: { ...settings.files, './key': newer } };

describe('a token that the relay remembers because it has opened a resource', () => {
  const relay = resourcesRelay();
  beforeEach(async () => await relay().restart(settings));

  const ask = async (token: string) => (await check(relay(), 'notes', bearer(token))).status;

  /** A token that a relay has opened before, more than once. */
  async function rememberedTokens() {
    const tokens = tokensOf(await logIn(relay(), { ...ofApp, resource: notes }));
    expect([await ask(tokens.access_token), await ask(tokens.access_token)]).to.deep.equal([204, 204]);
    return tokens;
  }

  it('opens nothing at another resource', async () => {
    const { access_token } = await rememberedTokens();
    expect((await check(relay(), 'files', bearer(access_token))).status).to.equal(401);
    expect(await introspect(relay(), 'files', access_token)).to.deep.equal({ active: false });
    expect(await ask(access_token)).to.equal(204);
  });

  it('opens nothing once its key is removed', async () => {
    const { access_token } = await rememberedTokens();
    await relay().reload({
      ...settings,
      files: { ...settings.files, './key': `${newer}\n${keyLines.split('\n')[0]}` },
    });
    expect(await ask(access_token)).to.equal(204);
    await relay().reload(withNewKey);
    expect(await ask(access_token)).to.equal(401);
    expect(await introspect(relay(), 'notes', access_token)).to.deep.equal({ active: false });
  });

  it('opens nothing once its login is logged out', async () => {
    const { access_token, refresh_token } = await rememberedTokens();
    await relay().post('revoke', { client_id: 'app', token: refresh_token });
    expect(await ask(access_token)).to.equal(401);
  });

  it('opens nothing once its resource is removed, and the resource that comes back does not know it by its place', async () => {
    const { access_token } = await rememberedTokens();
    await relay().reload(withoutNotes);
    expect(await ask(access_token)).to.equal(404);
    expect((await check(relay(), 'files', bearer(access_token))).status).to.equal(401);
    const elsewhere = settings.relay?.replace(notes, 'https://other.example.com/mcp') ?? '';
    await relay().reload({ ...settings, relay: elsewhere });
    expect(await ask(access_token)).to.equal(401);
  });

  it('opens nothing once it has expired, or its front end may not use the resource', async () => {
    const { access_token } = await rememberedTokens();
    await relay().reload({ ...settings, frontEnds: settings.frontEnds.replace('[notes, files]', '[files]') });
    expect(await ask(access_token)).to.equal(401);
    await relay().reload(settings);
    expect(await ask(access_token)).to.equal(204);
    relay().ahead = 3_600_000;
    expect(await ask(access_token)).to.equal(401);
  });
});
