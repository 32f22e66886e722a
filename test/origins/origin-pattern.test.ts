import { expect } from 'chai';
import * as v from 'valibot';
import { matches } from '../../src/origins/origin-pattern.ts';
import { originPattern } from '../../src/origins/origin-schemas.ts';

const pattern = (text: string) => v.parse(originPattern, text);

/** The message of the only fault. */
function faultOf(text: string): string {
  const { issues = [] } = v.safeParse(originPattern, text);
  expect(issues, text).to.have.lengthOf(1);
  return issues[0]?.message ?? '';
}

describe('an origin pattern', () => {
  it('without * allows only its own origin, as browsers write it', () => {
    const exact = pattern('https://App.Example.com:443/');
    expect(exact).to.equal('https://app.example.com');
    expect(matches(exact, 'https://app.example.com')).to.equal(true);
    for (const other of [
      '',
      'null',
      'https://app.example.com/',
      'https://APP.example.com',
      'https://app.example.com:443',
      'https://app.example.com:8443',
      'http://app.example.com',
      'https://a.app.example.com',
      'https://example.com',
    ]) {
      expect(matches(exact, other), other).to.equal(false);
    }
  });

  it('with * as its first label allows one label in its place', () => {
    const previews = pattern('https://*.Preview.example.com:8443');
    expect(previews).to.equal('https://*.preview.example.com:8443');
    for (const label of ['a', '7', 'pull-12', 'xn--pp-xia', 'a'.repeat(63)]) {
      expect(matches(previews, `https://${label}.preview.example.com:8443`), label).to.equal(true);
    }
    for (const place of [
      '',
      '*',
      'a.b',
      'A',
      '-a',
      'a-',
      'a_b',
      '\u00e4pp',
      'xn--',
      'a'.repeat(64),
      'a@b',
      'evil.example/',
      'evil.example#',
      'evil.example:443',
      'a%2eb',
      ' a',
      'a\n',
      'a, https://b',
    ]) {
      expect(matches(previews, `https://${place}.preview.example.com:8443`), place).to.equal(false);
    }
    for (const other of [
      'https://preview.example.com:8443',
      'https://a.preview.example.com',
      'https://a.preview.example.com:443',
      'http://a.preview.example.com:8443',
      'https://apreview.example.com:8443',
      'https://a.preview.example.com:8443.evil.example',
      'https://a.preview.example.com.:8443',
      'https://.preview.example.com:8443',
      'https:/',
    ]) {
      expect(matches(previews, other), other).to.equal(false);
    }
  });

  it('with * as its port allows every port of that name of this machine', () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      const local = pattern(`HTTP://${host.toUpperCase()}:*`);
      expect(local).to.equal(`http://${host}:*`);
      for (const port of ['', ':1', ':3000', ':65535']) {
        expect(matches(local, `http://${host}${port}`), port).to.equal(true);
      }
      for (const place of [
        ':',
        ':0',
        ':80',
        ':080',
        ':65536',
        ':99999',
        ':100000',
        ':*',
        ':a',
        '.evil.example',
        '.evil.example:3000',
        ':3000/',
        ':3000@evil.example',
        ':3000\n',
      ]) {
        expect(matches(local, `http://${host}${place}`), place).to.equal(false);
      }
      expect(matches(local, `https://${host}:3000`)).to.equal(false);
      expect(matches(local, `http://a.${host}:3000`)).to.equal(false);
    }
    expect(matches(pattern('http://localhost:*'), 'http://127.0.0.1:3000')).to.equal(false);
  });

  it('has its * nowhere else', () => {
    for (const text of [
      '*',
      'https://*',
      'https://*:443',
      'https://*/',
      'https://x-*.example.com',
      'https://*-x.example.com',
      'https://**.example.com',
      'https://*.*.example.com',
      'https://a.*.example.com',
      'https://app.example.*',
      'https://app*.example.com',
      'https://app.example.com:*',
      'https://*.example.com:*',
      'https://localhost:*',
      'http://127.0.0.2:*',
      'http://a.localhost:*',
      'http://localhost:30*',
      'http://localhost:*0',
      'http://localhost:*.evil.example',
      'http://localhost:*@evil.example',
      'http://*.localhost:*',
      'http*://app.example.com',
      '*://app.example.com',
    ]) {
      expect(faultOf(text), text).to.match(/^must have \* as the whole first label|^must be a URL/);
    }
  });

  it('with * as its first label is under https', () => {
    expect(faultOf('http://*.preview.example.com')).to.equal('must start with https:// if its host name has a *');
  });

  it('has no * where anybody can have a name', () => {
    for (const suffix of [
      'com',
      'co.uk',
      'CO.UK',
      'vercel.app',
      'netlify.app',
      'pages.dev',
      'github.io',
      'web.app',
      'azurestaticapps.net',
      's3.amazonaws.com',
      // Every name below these two is a public suffix.
      'kawasaki.jp',
      'compute.amazonaws.com',
      'xn--p1ai',
      'xn--55qx5d.cn',
      'internal',
      'localhost',
    ]) {
      expect(faultOf(`https://*.${suffix}`), suffix).to.match(
        /^must not have a \* directly under a public suffix, such as .*: anybody can have a name there/,
      );
    }
    for (const domain of [
      'example.com',
      'me.github.io',
      'my-team.vercel.app',
      'preview.example.co.uk',
      'city.kawasaki.jp',
      'www.ck',
      'corp.internal',
      'xn--pp-xia.example',
    ]) {
      expect(pattern(`https://*.${domain}`)).to.equal(`https://*.${domain}`);
    }
  });

  it('has no * below a domain of an IDE, a tunnel or a host on which anybody can get a name', () => {
    for (const shared of [
      'app.github.dev',
      'gitpod.io',
      'codesandbox.io',
      'stackblitz.io',
      'webcontainer.io',
      'glitch.me',
      'loca.lt',
      'lhr.life',
      'serveo.net',
      'pinggy.link',
      'zrok.io',
      'ngrok.io',
      'devtunnels.ms',
      'gradio.live',
      'sslip.io',
      'nip.io',
      'traefik.me',
      'localtest.me',
    ]) {
      for (const domain of [shared, shared.toUpperCase()]) {
        expect(faultOf(`https://*.${domain}`), domain).to.contain('anybody can have a name there');
      }
    }
    const below = ['x.gitpod.io', 'ws-eu1.gitpod.io', 'euw.devtunnels.ms', '10.0.0.1.nip.io'];
    for (const domain of below) {
      expect(faultOf(`https://*.${domain}`), domain).to.contain('anybody can have a name there');
    }
    for (const own of ['notgitpod.io', 'gitpod.io.example.com', 'io.example.com']) {
      expect(pattern(`https://*.${own}`)).to.equal(`https://*.${own}`);
    }
  });

  it('cannot be brought under a public suffix by another spelling', () => {
    for (const text of [
      'https://*.github.io.',
      'https://*.github.io.:443',
      'https://*.',
      'https://*..github.io',
      'https://*.-evil.example',
      'https://*.my_app.example',
      'https://%2a.github.io',
      'https://*.git%68ub.io',
      'https://*.127.0.0.1',
      'https://*.[::1]',
      'https://*.github\u3002io',
      'https://user@*.preview.example.com',
      'https://*.preview.example.com/page',
      'https://*.preview.example.com?a=b',
      'https://*.preview.example.com#',
      'https:\\\\*.preview.example.com',
      ' https://*.preview.example.com',
    ]) {
      expect(v.is(originPattern, text), text).to.equal(false);
    }
  });
});
