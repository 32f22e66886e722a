import { expect } from 'chai';
import { expectRedirect } from '../harness/expect/expectations.ts';
import { baseUrl, loginPath, relayUnderTest } from '../harness/relay/relay-under-test.ts';

const otherHost = /^login started under another host name/;

describe('a login that starts under another name of the relay', () => {
  const underTest = relayUnderTest();
  const warnings = () => underTest().process.logLines.filter(({ msg }) => otherHost.test(`${msg}`));
  const startAt = (host: string) =>
    underTest().sendBytes(
      `GET ${loginPath} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );

  it('is answered as ever, and a warning names both addresses', async () => {
    expectRedirect(await startAt('127.0.0.1:8000'));
    await underTest().process.logLine(({ msg }) => otherHost.test(`${msg}`));
    const { time: _, msg: __, ...line } = warnings()[0] ?? {};
    expect(line).to.deep.equal({ level: 'warn', host: '127.0.0.1:8000', baseUrl });
  });
});

describe('a login without a state check', () => {
  const underTest = relayUnderTest({
    'state-check': 'off',
    'trusted-proxies': '127.0.0.1',
    'token-request': 'query',
  });

  it('has no cookie, so it works under any host name', async () => {
    await underTest().lineOf(await underTest().get(loginPath));
    const { logLines } = underTest().process;
    expect(logLines.filter(({ level }) => level === 'warn')).to.deep.equal([]);
  });
});
