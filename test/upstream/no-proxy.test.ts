import { expect } from 'chai';
import { createUpstreamClient } from '../../src/upstream/client.ts';
import { readNoProxy } from '../../src/upstream/no-proxy.ts';
import { type Serving, serveTcp } from '../harness/provider/serve.ts';

describe('NO_PROXY', () => {
  const rows: readonly [list: string, direct: readonly string[], proxied: readonly string[]][] = [
    [
      'corp.example',
      ['corp.example', 'idp.corp.example', 'a.b.corp.example', 'IDP.Corp.Example', 'idp.corp.example.'],
      ['notcorp.example', 'corp.example.evil.test', 'example', 'corp.example2'],
    ],
    ['.corp.example', ['corp.example', 'idp.corp.example'], ['notcorp.example']],
    ['*.corp.example', ['idp.corp.example', 'a.b.corp.example'], ['corp.example', 'notcorp.example']],
    ['Corp.EXAMPLE.', ['idp.corp.example'], ['notcorp.example']],
    ['*', ['idp.example', '10.1.2.3', '[::1]'], []],
    ['a.example, b.example  c.example,,', ['a.example', 'x.b.example', 'c.example'], ['d.example']],
    ['10.0.0.0/8', ['10.1.2.3', '[::ffff:10.1.2.3]'], ['11.1.2.3', '110.0.0.0', '10.example', 'ten.10.1.2.3.example']],
    ['10.1.2.3', ['10.1.2.3'], ['10.1.2.31', '210.1.2.3', 'x.10.1.2.3']],
    ['10.1.2.3-10.1.2.9', ['10.1.2.3', '10.1.2.9'], ['10.1.2.10']],
    ['2001:db8::/32', ['[2001:db8::1]', '2001:DB8:1::1'], ['[2001:db9::1]', '10.1.2.3']],
    ['[2001:db8::1]', ['[2001:db8::1]', '[2001:db8:0:0::1]'], ['[2001:db8::2]']],
    ['::1', ['[::1]'], ['[::2]', 'localhost']],
    ['', [], ['idp.example']],
  ];
  for (const [list, direct, proxied] of rows) {
    it(`of "${list}" names ${direct.join(' ') || 'nothing'}`, () => {
      const isDirect = readNoProxy(list);
      for (const host of direct) expect(isDirect(host, 443), host).to.equal(true);
      for (const host of proxied) expect(isDirect(host, 443), host).to.equal(false);
    });
  }

  it('can name a single port of a host', () => {
    const list = 'idp.example:8443 10.1.2.3:8443 [2001:db8::1]:8443';
    for (const host of ['idp.example', 'x.idp.example', '10.1.2.3', '[2001:db8::1]']) {
      expect(
        [8443, 443].map((port) => readNoProxy(list)(host, port)),
        host,
      ).to.deep.equal([true, false]);
    }
  });

  it('names nothing by what cannot be read', () => {
    for (const list of [
      '10.0.0.0/33',
      '10.0.0.0/x',
      'a*b.example',
      'https://idp.example',
      '[::1',
      'idp.example:',
      '.',
    ]) {
      for (const host of ['10.1.2.3', 'a.example', 'idp.example', '[::1]']) {
        expect(readNoProxy(list)(host, 443), `${list} ${host}`).to.equal(false);
      }
    }
  });

  it('decides for each call to a provider', async () => {
    const reached: string[] = [];
    const open: Serving[] = [];
    const serve = async (what: string) => {
      const serving = await serveTcp((socket) => {
        reached.push(what);
        socket.destroy();
      });
      open.push(serving);
      return serving.port;
    };
    const provider = await serve('provider');
    const proxy = { HTTPS_PROXY: `http://127.0.0.1:${await serve('proxy')}`, NO_PROXY: 'corp.example, 127.0.0.0/8' };
    const client = createUpstreamClient({
      timeout: 5000,
      concurrentCalls: 1,
      proxy,
      lookup: (_, { all }, done) => {
        if (all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
        else done(null, '127.0.0.1', 4);
      },
    });
    for (const [host, expected] of [
      ['idp.corp.example', 'provider'],
      ['notcorp.example', 'proxy'],
      ['127.0.0.1', 'provider'],
    ]) {
      reached.length = 0;
      const url = `https://${host}:${provider}/token`;
      const call = client.call({ endpoint: 'user', method: 'GET', url, headers: {} }, () => {});
      expect(await call.catch(({ code }) => code)).to.equal('provider_unreachable');
      expect(new Set(reached), host).to.deep.equal(new Set([expected]));
    }
    client.close();
    await Promise.all(open.map((one) => one.close()));
  });
});
