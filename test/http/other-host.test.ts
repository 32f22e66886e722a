import { expect } from 'chai';
import { warnOfOtherHosts } from '../../src/observability/occasional-warnings.ts';
import { koaContext } from '../harness/login/koa-context.ts';

describe('a login that starts under another host name', () => {
  async function reported(baseUrl: string, host: string | undefined): Promise<string[]> {
    const hosts: string[] = [];
    const warn = (line: { readonly host: string }) => hosts.push(line.host);
    const middleware = warnOfOtherHosts({ warn } as never, baseUrl);
    let passedOn = 0;
    await middleware(koaContext(host === undefined ? {} : { host }), async () => {
      passedOn += 1;
    });
    expect(passedOn, 'the login goes on').to.equal(1);
    return hosts;
  }

  for (const [baseUrl, host, other] of [
    ['http://localhost:8000', '127.0.0.1:8000', '127.0.0.1:8000'],
    ['http://localhost:8000', '[::1]:8000', '[::1]:8000'],
    ['http://127.0.0.1:8000', 'localhost:8000', 'localhost:8000'],
    ['https://login.example.com', 'www.login.example.com', 'www.login.example.com'],
    ['https://login.example.com', 'LOGIN.example.org:443', 'login.example.org'],
    ['https://login.example.com/relay', 'example.com', 'example.com'],
  ] as const) {
    it(`is reported: ${host} for ${baseUrl}`, async () => {
      expect(await reported(baseUrl, host)).to.deep.equal([other]);
    });
  }

  for (const [baseUrl, host] of [
    ['http://localhost:8000', 'localhost:8000'],
    ['http://localhost:8000', 'LocalHost:9000'],
    ['https://login.example.com', 'login.example.com'],
    ['https://login.example.com', 'login.example.com:8443'],
    ['https://login.example.com', undefined],
  ] as const) {
    it(`is not reported: ${host} for ${baseUrl}`, async () => {
      expect(await reported(baseUrl, host)).to.deep.equal([]);
    });
  }

  for (const host of [
    ...['', 'a b', "a'b;c", 'user@evil.example', 'evil.example/path', 'evil.example?code=1'],
    ...['evil.example#', '<b>.example'],
    `${'a'.repeat(254)}`,
    'evil\nexample',
    '%0d%0aexample',
    '[::1',
    'example:99999',
  ]) {
    it(`is not reported if the host is malformed: ${JSON.stringify(host.slice(0, 30))}`, async () => {
      for (const reportedHost of await reported('https://login.example.com', host)) {
        expect(reportedHost).to.match(/^[a-z0-9._-]{1,253}$/);
      }
    });
  }
});
