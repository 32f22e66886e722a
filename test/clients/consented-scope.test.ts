import { expect } from 'chai';
import { readFileConfig } from '../config/support/read.ts';
import type { Answer } from '../harness/client/request.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { eventually } from '../harness/system/eventually.ts';
import { ada } from '../resources/support/resources-relay.ts';
import { clientsRelay, jsonOf, loopback, type Question } from './support/clients-relay.ts';

const settingsWith = (scope: string, provider = 'scope: read write admin') => ({
  frontEnds: `  tools:
    kind: native
    refresh-tokens: bearer
    ${scope}
    clients: { registration: true, days: 20 }
`,
  provider,
});
const relay = clientsRelay(() => settingsWith('scope: read write'));

async function ask(more: { scope?: string } = {}): Promise<Question & { readonly id: string }> {
  const metadata = JSON.stringify({ redirect_uris: [loopback] });
  const id = `${jsonOf(await relay().post('register', metadata))['client_id']}`;
  return { id, ...(await relay().ask({ client_id: id, ...more })) };
}

async function logIn(more: { scope?: string } = {}) {
  const question = await ask(more);
  const { code } = await relay().agree(question);
  return { ...question, answer: await relay().redeem(question.start, code) };
}

function expectNoToken({ status, body }: Answer): void {
  expect(status, `${body}`).to.equal(400);
  expect(jsonOf({ status, body } as Answer)).to.include({ error: 'invalid_scope' });
  expect(`${body}`).not.to.contain('access_token');
}

const revocations = () => relay().provider.calls.filter(({ endpoint }) => endpoint === 'revocation');

describe('the scope that a person has agreed to', () => {
  afterEach(() => relay().restart(settingsWith('scope: read write')));

  it('is enough for a token', async () => {
    const { answer } = await logIn();
    expect(jsonOf(answer)).to.include({ scope: 'read write' });
  });

  it('limits the login, so that a token with a larger scope is revoked, and the client gets no token', async () => {
    const { answer } = await logIn({ scope: 'read' });
    expectNoToken(answer);
    await eventually(async () => expect(revocations()).not.to.be.empty);
    expect(relay().lines.at(-1)).to.include({ outcome: 'consent_exceeded' });
  });

  it('bounds a login that asks for nothing, if the provider adds what it granted before', async () => {
    await relay().restart(settingsWith('', 'provider: github'));
    expectNoToken((await logIn()).answer);
  });

  it('bounds refreshes, even if the provider does not say what it grants', async () => {
    relay().provider.mood.saysScope = false;
    const { id, answer } = await logIn({ scope: 'read' });
    const { refresh_token } = jsonOf(answer);
    const form = { grant_type: 'refresh_token', client_id: id, refresh_token: `${refresh_token}` };
    expectNoToken(await relay().post('token', { ...form, scope: 'read write' }));
    expectNoToken(await relay().post('token', { ...form, scope: 'mail files' }));
    relay().provider.mood.saysScope = true;
    for (let times = 0; times < 10; times += 1) {
      expectNoToken(await relay().post('token', form));
    }
    // The refresh token and the access token.
    expect(revocations()).to.have.length.of.at.most(2);
  });
});

describe('the scope that a person has agreed to for a resource whose server acts with it', () => {
  const url = 'https://notes.example.com/mcp';
  const withResource = (row: string) => ({
    ...settingsWith(`scope: read write\n    resources: [notes]`),
    here: true,
    relay: `resources:\n  notes: { url: ${url}, upstream: http://127.0.0.1:9/mcp, ${row} }`,
  });
  const giving = withResource('token: provider, open-clients: true');
  const keeping = withResource("scope: 'notes:read'");
  const asksFor = ({ text }: Question) =>
    [...text.matchAll(/<dt>(.*)<dd><ul>(.*(?:\n<li>.*)*)<\/ul>/g)].map(([, label, items = '']) => [
      label,
      ...items.split('\n').map((one) => one.replace(/<li>| <code>.*/g, '')),
    ]);

  before(() => relay().restart(giving));
  after(() => relay().restart(settingsWith('scope: read write')));
  beforeEach(() => relay().provider.knows(json(ada)));

  it('is shown together with the data that the server learns', async () => {
    expect(asksFor(await ask())).to.deep.equal([
      ['What it may use', 'notes.example.com/mcp'],
      ['What it learns', 'who you are'],
      ['What it asks for', 'read', 'write'],
    ]);
    await relay().restart(keeping);
    expect(asksFor(await ask()).map(([label]) => label)).to.deep.equal(['What it may use', 'What it learns']);
    await relay().restart(giving);
  });

  it('is enough for a token', async () => {
    const { answer } = await logIn();
    expect(answer.status, `${answer.body}`).to.equal(200);
  });

  it('limits the login, so that a token with a larger scope is revoked, and the client gets no token', async () => {
    const { answer } = await logIn({ scope: 'read' });
    expectNoToken(answer);
    await eventually(async () => expect(revocations()).not.to.be.empty);
    expect(relay().lines.at(-1)).to.include({ outcome: 'consent_exceeded' });
  });

  it('bounds refreshes', async () => {
    relay().provider.mood.saysScope = false;
    const { id, answer } = await logIn({ scope: 'read' });
    const { refresh_token } = jsonOf(answer);
    relay().provider.mood.saysScope = true;
    expectNoToken(await relay().refresh(id, `${refresh_token}`));
  });

  it('must have been shown, so a login ends if the server gets the token only later', async () => {
    await relay().restart(keeping);
    const { id, answer } = await logIn();
    const { refresh_token } = jsonOf(answer);
    const question = await ask();
    const { code } = await relay().agree(question);
    await relay().restart(giving);
    const calls = relay().provider.calls.length;
    for (const refused of [await relay().refresh(id, `${refresh_token}`), await relay().redeem(question.start, code)]) {
      expect(jsonOf(refused)).to.include({ error: 'invalid_grant' });
    }
    expect(relay().provider.calls).to.have.length(calls);
  });
});

describe('a front end with more scope at the OAuth application of open clients', () => {
  const warnings = (scope: string) => {
    const { frontEnds } = settingsWith('scope: read');
    const text = `
base-url: https://login.example.com
key-file: ./key
providers:
  github: { client-id: a, client-secret: b, scope: read }
front-ends:
  app: { origin: https://app.example.com, ${scope} }
${frontEnds}`;
    return readFileConfig(text).warnings.filter((one) => one.includes('second OAuth application'));
  };

  it('is a warning', () => {
    expect(warnings('scope: read')).to.deep.equal([]);
    expect(warnings('')).to.deep.equal([]);
    const [warning = ''] = warnings('scope: read repo');
    expect(warning).to.contain('front-ends.tools.scope is narrower than that of app');
  });
});

describe('a client identifier that has ended', () => {
  it('still revokes the tokens that were issued to it', async () => {
    const { id, answer } = await logIn();
    const { refresh_token } = jsonOf(answer);
    relay().ahead = 21 * 86_400_000;
    const revoked = await relay().post('revoke', { client_id: id, token: `${refresh_token}` });
    expect(revoked.status, `${revoked.body}`).to.equal(200);
    expect(revocations()).to.have.length(1);
    expect((await relay().refresh(id, `${refresh_token}`)).status).to.equal(401);
  });
});
