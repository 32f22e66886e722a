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

  const tokenPath =
    '/login/oauth/access_token?client_id=client-1&client_secret=s3cret&code=one' +
    '&redirect_uri=https%3A%2F%2Frelay.example%2Fauth%2Fprovider%2Fcallback';
  type Headers = Readonly<Record<string, string>>;

  function call(
    path: string,
    method: string,
    headers: Headers,
    changes: Partial<Sending> & { more?: Headers },
  ) {
    const { more = {}, ...others } = changes;
    const sent = Object.entries({ ...headers, 'User-Agent': 'test', ...more });
    return { path, method, headers: sent.filter(([, value]) => value !== ''), ...others };
  }
  const tokenCall = (changes: Parameters<typeof call>[3] = {}) =>
    call(tokenPath, 'POST', { Accept: 'application/json', 'Content-Length': '0' }, changes);
  const userCall = (changes: Parameters<typeof call>[3] = {}) =>
    call('/user', 'GET', { Authorization: 'Bearer one' }, changes);
  const altered = (part: string, by: string) => tokenCall({ path: tokenPath.replace(part, by) });

  it('accepts the calls of the specification', async () => {
    await start();
    expect((await send(provider.port, tokenCall())).status).to.equal(200);
    expect((await send(provider.port, userCall())).status).to.equal(200);
    expect(provider.violations).to.deep.equal([]);
    expect(provider.credentials('token')).to.deep.equal(['one']);
    expect(provider.credentials('user')).to.deep.equal(['one']);
  });

  const violations: Record<string, Sending> = {
    'a token call by GET': tokenCall({ method: 'GET' }),
    'a token call without Accept': tokenCall({ more: { Accept: '' } }),
    'a token call without User-Agent': tokenCall({ more: { 'User-Agent': '' } }),
    'a token call with a body': tokenCall({ more: { 'Content-Length': '2' }, body: '{}' }),
    'a token call with a cookie': tokenCall({ more: { Cookie: 'a=b' } }),
    'a token call with Authorization': tokenCall({ more: { Authorization: 'Basic Og==' } }),
    'a token call with an extra parameter': altered('code=', 'x=1&code='),
    'a token call with a repeated parameter': altered('code=', 'code=one&code='),
    'a token call without code': altered('code=one', 'a=b'),
    'a token call without client_secret': altered('client_secret=s3cret&', ''),
    'a token call with another secret': altered('s3cret', 'other'),
    'a token call with another redirect URI': altered('relay', 'other'),
    'a token call with broken percent-encoding': altered('one', '%ff'),
    'a user call by POST': userCall({ method: 'POST' }),
    'a user call with a query': userCall({ path: '/user?a' }),
    'a user call without a token': userCall({ more: { Authorization: '' } }),
    'a user call with another scheme': userCall({ more: { Authorization: 'token one' } }),
    'a user call with two tokens': userCall({ more: { authorization: 'Bearer two' } }),
    'another path': userCall({ path: '/users' }),
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
    expect((await send(provider.port, tokenCall())).status).to.equal(400);
    expect(provider.violations).to.have.lengthOf(1);
  });

  it('remembers a code that is spent twice', async () => {
    await start();
    await send(provider.port, tokenCall());
    expect((await send(provider.port, tokenCall())).body.toString()).to.contain('error');
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
