import { expect } from 'chai';
import { type Sending, send } from '../harness/client/http-client.ts';
import { canariesIn, canary } from '../harness/expect/canaries.ts';
import { type ClientRegistration, StrictProvider } from '../harness/provider/strict-provider.ts';
import { registration } from '../harness/relay/relay-under-test.ts';

// The tests find only the faults that this provider refuses.
describe('the strict provider', () => {
  let provider: StrictProvider;
  afterEach(() => provider.stop());

  async function start(changes: Partial<ClientRegistration> = {}): Promise<void> {
    provider = await StrictProvider.start(registration({ clientSecret: 's3cret', ...changes }));
  }

  const tokenQuery =
    'client_id=client-1&client_secret=s3cret&code=one' +
    '&redirect_uri=https%3A%2F%2Frelay.example%2Fauth%2Fprovider%2Fcallback';
  const tokenCall: Sending = {
    method: 'POST',
    path: `/login/oauth/access_token?${tokenQuery}`,
    headers: [
      ['Accept', 'application/json'],
      ['User-Agent', 'test'],
      ['Content-Length', '0'],
    ],
  };
  const userCall: Sending = {
    path: '/user',
    headers: [
      ['Authorization', 'Bearer one'],
      ['User-Agent', 'test'],
    ],
  };

  it('accepts the calls of the specification', async () => {
    await start();
    expect((await send(provider.port, tokenCall)).status).to.equal(200);
    expect((await send(provider.port, userCall)).status).to.equal(200);
    expect(provider.violations).to.deep.equal([]);
    expect(provider.credentials('token')).to.deep.equal(['one']);
    expect(provider.credentials('user')).to.deep.equal(['one']);
  });

  const violations: Record<string, Sending> = {
    'a token call by GET': { ...tokenCall, method: 'GET' },
    'a token call without Accept': { ...tokenCall, headers: [['User-Agent', 'test']] },
    'a token call without User-Agent': { ...tokenCall, headers: [['Accept', 'application/json']] },
    'a token call with a body': {
      ...tokenCall,
      headers: [
        ['Accept', 'application/json'],
        ['User-Agent', 'test'],
        ['Content-Length', '2'],
      ],
      body: '{}',
    },
    'a token call with a cookie': {
      ...tokenCall,
      headers: [...(tokenCall.headers ?? []), ['Cookie', 'a=b']],
    },
    'a token call with Authorization': {
      ...tokenCall,
      headers: [...(tokenCall.headers ?? []), ['Authorization', 'Basic Og==']],
    },
    'a token call with an extra parameter': { ...tokenCall, path: `${tokenCall.path}&x=1` },
    'a token call with a repeated parameter': { ...tokenCall, path: `${tokenCall.path}&code=one` },
    'a token call without code': { ...tokenCall, path: tokenCall.path.replace('code=one', 'a=b') },
    'a token call without client_secret': {
      ...tokenCall,
      path: tokenCall.path.replace('client_secret=s3cret&', ''),
    },
    'a token call with another secret': {
      ...tokenCall,
      path: tokenCall.path.replace('s3cret', 'other'),
    },
    'a token call with another redirect URI': {
      ...tokenCall,
      path: tokenCall.path.replace('relay', 'other'),
    },
    'a token call with broken percent-encoding': {
      ...tokenCall,
      path: tokenCall.path.replace('one', '%ff'),
    },
    'a user call by POST': { ...userCall, method: 'POST' },
    'a user call with a query': { ...userCall, path: '/user?a' },
    'a user call without a token': { ...userCall, headers: [['User-Agent', 'test']] },
    'a user call with another scheme': {
      ...userCall,
      headers: [
        ['Authorization', 'token one'],
        ['User-Agent', 'test'],
      ],
    },
    'a user call with two tokens': {
      ...userCall,
      headers: [...(userCall.headers ?? []), ['Authorization', 'Bearer two']],
    },
    'another path': { ...userCall, path: '/users' },
  };
  for (const [name, sending] of Object.entries(violations)) {
    it(`refuses and remembers ${name}`, async () => {
      await start();
      expect((await send(provider.port, sending)).status).to.equal(400);
      expect(provider.violations).to.have.lengthOf(1);
      expect(provider.calls).to.deep.equal([]);
    });
  }

  it('refuses credentials in the query if the client is configured to use the body', async () => {
    await start({ tokenRequest: 'body' });
    expect((await send(provider.port, tokenCall)).status).to.equal(400);
    expect(provider.violations).to.have.lengthOf(1);
  });

  it('remembers a code that is spent twice', async () => {
    await start();
    await send(provider.port, tokenCall);
    expect((await send(provider.port, tokenCall)).body.toString()).to.contain('error');
    expect(provider.violations).to.deep.equal(['a code was spent twice']);
  });
});

describe('the search for canaries', () => {
  it('finds a value in any case and encoding', () => {
    for (const kind of ['secret', 'code', 'token'] as const) {
      expect(canariesIn(`{"url":"/?a=${canary(kind)}&b"}`)).to.deep.equal(new Set([kind]));
      expect(canariesIn(canary(kind).toUpperCase())).to.deep.equal(new Set([kind]));
    }
    expect(canariesIn('c4n4r')).to.deep.equal(new Set());
  });

  it('finds a value in base64 and hex, at any position', () => {
    for (const prefix of ['', 'a', 'ab', 'abc', 'abcd']) {
      for (const encoding of ['base64', 'base64url', 'hex'] as const) {
        const encoded = Buffer.from(`${prefix}${canary('secret')}`).toString(encoding);
        expect(canariesIn(encoded), `${prefix} ${encoding}`).to.include('secret');
      }
    }
  });

  it('finds a value that was cut short', () => {
    expect(canariesIn('c4n4ry-tok')).to.include('token');
  });
});
