import { expect } from 'chai';
import { printFile } from '../../src/config/file/print.ts';
import { faultsOfFile, readFileConfig } from './support/read.ts';

const file = (settings: string) => `base-url: https://login.example.com
key-file: ./key
providers: { github: { client-id: one, client-secret: two } }
front-ends:
  tools: { ${settings} }
`;

describe('the configuration of a native front end', () => {
  it('takes loopback addresses with any port, https pages and schemes of apps', () => {
    const uris = 'http://127.0.0.1:8123/a, "http://[::1]/b", https://example.com/c, com.example:/d';
    const { config } = readFileConfig(file(`kind: native, redirect-uris: [${uris}]`));
    const [{ redirectUris, tokenDelivery, frontendUrl }] = config.frontEnds;
    expect(redirectUris).to.deep.equal([
      'http://127.0.0.1:*/a',
      'http://[::1]:*/b',
      'https://example.com/c',
      'com.example:/d',
    ]);
    expect({ tokenDelivery, frontendUrl }).to.deep.equal({
      tokenDelivery: 'code',
      frontendUrl: undefined,
    });
  });

  it('does not quote a secret in place of the file with its keys', () => {
    const found = faultsOfFile(file('client-key-file: b5a1c0de'));
    expect(found.join()).to.contain('front-ends.tools.client-key-file').and.not.contain('b5a1c0de');
  });

  for (const [uri, fault] of [
    ['javascript:alert(1)', 'must start with https:// (or http://), or with a scheme of an app'],
    ['JaVaScRiPt:alert(1)', 'must start with https:// (or http://), or with a scheme of an app'],
    ['data:text/html,x', 'must start with https:// (or http://), or with a scheme of an app'],
    ['file:///etc/passwd', 'must start with https:// (or http://), or with a scheme of an app'],
    ['myapp:/callback', 'must start with https:// (or http://), or with a scheme of an app'],
    ['http://example.com/', 'must start with https://, unless its host is 127.0.0.1'],
    ['http://127.0.0.2/', 'must start with https://, unless its host is 127.0.0.1'],
    ['com.example.app://user@host/', 'must be a URL without user name and fragment'],
    ['com.example.app:/#f', 'must be a URL without user name and fragment'],
    ['https://*.example.com/', 'must not have a *'],
    ['http://localhost/?code=1', 'must not have code in its query'],
  ]) {
    it(`refuses the redirect URI ${uri}`, () => {
      const [found, ...others] = faultsOfFile(file(`kind: native, redirect-uris: ["${uri}"]`));
      expect(found).to.contain(`front-ends.tools.redirect-uris`).and.contain(fault);
      expect(others).to.deep.equal([]);
    });
  }

  it('is refused without any program, and printed as it is read', () => {
    expect(faultsOfFile(file('kind: native'))).to.deep.equal([
      'config.yaml:5:3 front-ends.tools needs redirect-uris or clients',
    ]);
    const text = file('kind: native, redirect-uris: http://127.0.0.1/a');
    const shared = `shared-memory: redis://127.0.0.1:7000\n${text}`;
    const printed = printFile(readFileConfig(shared).readings);
    expect(printed).to.contain('token-delivery: code').and.contain('redis://127.0.0.1:7000');
  });

  it('refuses an origin, a page, and another delivery than code', () => {
    const settings =
      'kind: native, origin: https://a.example, frontend-url: https://a.example/, token-delivery: query';
    expect(faultsOfFile(file(settings)).join('\n'))
      .to.match(/origin .* must not be set with/)
      .and.match(/frontend-url .* must not be set with/)
      .and.match(/token-delivery .* must be code with/);
  });

  it('refuses the scheme of an app at a page, and a page without an origin', () => {
    expect(
      faultsOfFile(file('origin: https://a.example, redirect-uris: com.example:/a')).join('\n'),
    ).to.contain('must be inside');
    expect(faultsOfFile(file('token-delivery: code')).join('\n')).to.contain('origin is required');
  });

  it('lets clients in that nobody registered at one front end of a provider only', () => {
    const open = 'kind: native, clients: { registration: true }';
    const two = (more: string) => faultsOfFile(`${file(open)}${more}`).join('\n');
    expect(two('')).to.equal('');
    expect(two(`  others: { ${open} }\n`)).to.contain('is the second one of a provider');
    expect(two('  register: { origin: https://a.example }\n')).to.contain('name of an endpoint');
    expect(faultsOfFile(file('kind: native, clients: { days: 3 }')).join()).to.contain(
      'lets nobody in',
    );
    expect(faultsOfFile(file('origin: https://a.example, clients: { registration: true }')).join())
      .to.contain('needs')
      .and.contain('native');
  });

  it('warns if everybody may log in with clients that nobody registered', () => {
    const warnings = (text: string) => readFileConfig(text).warnings.join('\n');
    const open = file('kind: native, clients: { registration: true }');
    const allow = 'allow: { users: [octocat] }';
    expect(warnings(open)).to.contain('set allow');
    expect(warnings(open.replace('client-id: one', `client-id: one, ${allow}`))).not.to.contain(
      'set allow',
    );
    expect(warnings(open.replace('kind: native', `kind: native, ${allow}`))).not.to.contain(
      'set allow',
    );
    expect(warnings(file('kind: native, redirect-uris: http://127.0.0.1/a'))).not.to.contain(
      'set allow',
    );
  });
});
