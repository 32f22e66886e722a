import { expect } from 'chai';
import * as v from 'valibot';
import { scope, seconds, wholeNumber } from '../../src/config/schemas.ts';
import { httpUrl, providerUrl } from '../../src/urls.ts';

describe('the values of options', () => {
  it('accept a URL only if URL parsers do not change its meaning', () => {
    const refused = [
      '',
      'example.com',
      '//example.com',
      'ftp://example.com',
      'javascript:alert(1)',
      'https://',
      'https:///path',
      'https:example.com',
      ' https://example.com',
      'https://example.com ',
      'https://exa mple.com',
      'https://example.com\\@evil.com',
      'https://user@example.com',
      'https://:pass@example.com',
      'https://example.com/#fragment',
      'https://example.com/#',
      'https://exämple.com',
      'https://example。com',
      'https://example.com\0',
      'https://example.com\n',
      'https://example.com:99999',
      'https://[::1',
      'https://exa%00mple.com',
      'https://a<b>.com',
    ];
    for (const value of refused)
      expect(v.is(httpUrl, value), JSON.stringify(value)).to.equal(false);
    for (const value of [
      'https://example.com',
      'http://[::1]:80/a?b=c',
      'HTTPS://EXAMPLE.com/%20',
    ]) {
      expect(v.is(httpUrl, value), value).to.equal(true);
    }
  });

  it('refuse a provider at a link-local or metadata address, in any spelling', () => {
    const refused = [
      'http://169.254.169.254/',
      'http://0251.0376.0251.0376/',
      'http://0xa9fea9fe/',
      'http://2852039166/',
      'http://[fe80::1]/',
      'http://[::ffff:169.254.169.254]/',
      'http://[::ffff:a9fe:1]/',
      'http://[fd00:ec2::254]/',
    ];
    for (const value of refused) expect(v.is(providerUrl, value), value).to.equal(false);
    for (const value of ['http://169.253.0.1/', 'http://[fd00::1]/', 'https://example.com']) {
      expect(v.is(providerUrl, value), value).to.equal(true);
    }
  });

  it('accept scopes with single spaces between them', () => {
    for (const value of ['read:user', 'openid profile email'])
      expect(v.is(scope, value)).to.equal(true);
    for (const value of ['', ' a', 'a  b', 'a"b', 'a\\b', 'a\tb']) {
      expect(v.is(scope, value), JSON.stringify(value)).to.equal(false);
    }
  });

  it('accept numbers in their range, but not text that starts with a number', () => {
    expect(v.parse(wholeNumber(0, 65535), '65535')).to.equal(65535);
    expect(v.parse(seconds(0.1, 300), '0.25')).to.equal(250);
    for (const value of ['-1', '65536', '1e3', '0x10', ' 1', '1 ', '1.0', '']) {
      expect(v.is(wholeNumber(0, 65535), value), value).to.equal(false);
    }
    for (const value of ['0', '0.09', '300.1', '10s', 'Infinity']) {
      expect(v.is(seconds(0.1, 300), value), value).to.equal(false);
    }
  });
});
