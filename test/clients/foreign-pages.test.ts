import { expect } from 'chai';
import { granted } from '../harness/browser/fake-browser.ts';
import { json } from '../harness/provider/provider-behaviours.ts';
import { clientsRelay, jsonOf, locationOf } from './support/clients-relay.ts';

const evil = 'https://evil.example';
const inThere = `${evil}/in`;
const settings = {
  relay: 'trusted-proxies: 127.0.0.1',
  frontEnds: `  app: { origin: https://app.example, token-delivery: code }
  tools: { kind: native, refresh-tokens: bearer, clients: { registration: true } }
`,
};
const relay = clientsRelay(() => settings);

// Addresses and origins share 65,536 counters by chance. So an origin of one test could share a counter that another
// test has filled with hundreds of origins.
beforeEach('nothing is counted', () => relay().restart(settings));

const ofProgram = (address: string): [string, string][] => [['X-Forwarded-For', address]];
const from = (address: string, origin = evil): [string, string][] => [...ofProgram(address), ['Origin', origin]];

/** @param origin undefined if a program registers */
async function clientOf(origin: string | undefined, redirect_uri: string, address: string) {
  const metadata = JSON.stringify({ redirect_uris: [redirect_uri] });
  const headers = origin === undefined ? ofProgram(address) : from(address, origin);
  return await relay().post('register', metadata, headers);
}

/** A code of the relay for a client of an attacker, whose callback comes from this address. */
async function codeOfAttacker(client_id: string, address: string) {
  const question = await relay().ask({ client_id, redirect_uri: inThere });
  const asked = locationOf(await relay().decide(question));
  const headers = ofProgram(address);
  const back = await question.browser.open(granted(relay().provider, asked), { headers });
  return { start: question.start, code: locationOf(back).searchParams.get('code') ?? '' };
}

describe('a foreign page that sends requests from the browser of a visitor', () => {
  it('does not keep the visitor from logging in by sending made-up codes', async () => {
    const client_id = `${jsonOf(await clientOf(evil, inThere, '198.51.100.66'))['client_id']}`;
    const codes = [];
    for (let count = 0; count < 12; count += 1) {
      codes.push(await codeOfAttacker(client_id, '198.51.100.66'));
    }
    const { onToken } = relay().provider;
    relay().provider.onToken = json({ error: 'bad_verification_code' });
    const answers = [];
    for (const { start, code } of codes) {
      answers.push(await relay().redeem(start, code, {}, from('198.51.100.7')));
    }
    expect(answers.map(({ status }) => status)).to.deep.equal([...Array.from({ length: 10 }, () => 400), 429, 429]);
    relay().provider.onToken = onToken;
    const { start, code } = await relay().logIn({
      client_id: 'app',
      redirect_uri: 'https://app.example/',
    });
    const own = await relay().redeem(start, code, {}, from('198.51.100.7', 'https://app.example'));
    expect(own.status, `${own.body}`).to.equal(200);
  });

  it('does not keep the visitor from looking up the user by sending made-up tokens', async () => {
    const lookUp = async (token: string, headers: [string, string][]) => {
      const all: [string, string][] = [...headers, ['Authorization', `Bearer ${token}`]];
      return (await relay().send({ path: '/api/user', headers: all })).status;
    };
    for (let count = 0; count < 10; count += 1) {
      expect(await lookUp(`made-up-${count}`, from('198.51.100.8'))).to.equal(401);
    }
    expect(await lookUp('another', from('198.51.100.8'))).to.equal(429);
    expect(await lookUp('old', from('198.51.100.8', 'https://app.example'))).to.equal(401);
  });

  it('does not use up the registrations of the visitor, refused or not', async () => {
    const address = '198.51.100.9';
    for (let count = 0; count < 60; count += 1) {
      expect((await clientOf('https://other.example', inThere, address)).status).to.equal(403);
    }
    for (let count = 0; count < 60; count += 1) {
      expect((await clientOf(evil, inThere, address)).status).to.equal(201);
    }
    expect((await clientOf(evil, inThere, address)).status).to.equal(429);
    const own = await clientOf('http://127.0.0.1:6274', 'http://127.0.0.1:6274/', address);
    expect(own.status).to.equal(201);
  });

  it('does not use up the refreshes of the visitor by its own logins', async () => {
    const client_id = `${jsonOf(await clientOf(evil, inThere, '198.51.100.67'))['client_id']}`;
    relay().provider.mood.rotation = 'adds';
    const tokens: string[] = [];
    for (let login = 0; login < 16; login += 1) {
      const { start, code } = await codeOfAttacker(client_id, '198.51.100.67');
      const answer = await relay().redeem(start, code, {}, from('198.51.100.10'));
      tokens.push(`${jsonOf(answer)['refresh_token']}`);
    }
    const statuses = new Set<number>();
    for (let round = 0; round < 19; round += 1) {
      relay().ahead += 31_000;
      for (const [index, token] of tokens.entries()) {
        const answer = await relay().refresh(client_id, token, from('198.51.100.10'));
        statuses.add(answer.status);
        if (answer.status === 200) tokens[index] = `${jsonOf(answer)['refresh_token']}`;
      }
    }
    expect([...statuses]).to.deep.equal([200, 429]);
    const app = { client_id: 'app', redirect_uri: 'https://app.example/' };
    const { start, code } = await relay().logIn(app);
    const own = await relay().redeem(start, code, {}, from('198.51.100.10', 'https://app.example'));
    expect(own.status, `${own.body}`).to.equal(200);
  });

  it('does not use up what programs may register, from however many origins', async () => {
    const address = '198.51.100.11';
    const statuses = [];
    for (let count = 0; count < 601; count += 1) {
      const origin = `https://${count}.example`;
      statuses.push((await clientOf(origin, `${origin}/in`, address)).status);
    }
    expect(statuses.slice(0, 600).every((status) => status === 201)).to.equal(true);
    expect(statuses[600]).to.equal(429);
    expect((await clientOf(undefined, 'http://127.0.0.1/in', address)).status).to.equal(201);
  });

  it('does not keep the programs of the visitor from logging out', async () => {
    const page = `${jsonOf(await clientOf(evil, inThere, '198.51.100.12'))['client_id']}`;
    const inProgram = 'http://127.0.0.1/in';
    const program = `${jsonOf(await clientOf(undefined, inProgram, '198.51.100.13'))['client_id']}`;
    relay().provider.onRevocation = json({ error: 'invalid_token' }, 400);
    const revoke = async (client_id: string, token: string, headers: [string, string][]) =>
      (await relay().post('revoke', { client_id, token }, headers)).status;
    for (let count = 0; count < 12; count += 1) {
      await revoke(page, `made-up-${count}`, from('198.51.100.14'));
    }
    expect(await revoke(page, 'another', from('198.51.100.14'))).to.equal(429);
    expect(await revoke(program, 'old', ofProgram('198.51.100.14'))).to.equal(200);
  });

  it('does not keep other pages from revoking the tokens of the visitor', async () => {
    const address = '198.51.100.15';
    const ok = 'https://ok.example';
    const client_id = `${jsonOf(await clientOf(ok, `${ok}/in`, address))['client_id']}`;
    const page = `${jsonOf(await clientOf(evil, inThere, address))['client_id']}`;
    const question = await relay().ask({ client_id, redirect_uri: `${ok}/in` });
    const { code } = await relay().agree(question);
    const tokens = jsonOf(await relay().redeem(question.start, code, {}, from(address, ok)));
    const token = `${tokens['access_token']}`;
    relay().provider.onRevocation = json({ error: 'invalid_token' }, 400);
    for (let count = 0; count < 11; count += 1) {
      await relay().post('revoke', { client_id: page, token: `of-${count}` }, from(address));
    }
    const own = await relay().post('revoke', { client_id, token }, from(address, ok));
    expect(own.status, `${own.body}`).to.equal(200);
  });
});

describe('somebody who has logged in at an address once', () => {
  it('does not keep the front ends from logging in there, from elsewhere', async () => {
    const there = '198.51.100.16';
    const elsewhere = '198.51.100.68';
    const client_id = `${jsonOf(await clientOf(evil, inThere, there))['client_id']}`;
    relay().provider.mood.rotation = 'keeps';
    const statuses = new Set<number>();
    for (let login = 0; login < 6; login += 1) {
      const { start, code } = await codeOfAttacker(client_id, there);
      const answer = await relay().redeem(start, code, {}, from(elsewhere));
      const refresh_token = `${jsonOf(answer)['refresh_token']}`;
      for (let calls = 0; calls < 60; calls += 1) {
        const scope = calls % 2 === 0 ? 'read' : 'write';
        const form = { grant_type: 'refresh_token', client_id, refresh_token, scope };
        statuses.add((await relay().post('token', form, from(elsewhere))).status);
      }
    }
    expect(statuses).to.include(429);
    const app = { client_id: 'app', redirect_uri: 'https://app.example/' };
    const { start, code } = await relay().logIn(app);
    const own = await relay().redeem(start, code, {}, from(there, 'https://app.example'));
    expect(own.status, `${own.body}`).to.equal(200);
  });
});
