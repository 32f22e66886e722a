import { expect } from 'chai';
import { formatConfigFile } from '../../src/config/shown/print.ts';
import { faultsOfFile, readFileConfig } from './support/read.ts';

const file = (settings: string) => `base-url: https://login.example.com
key-file: ./key
providers: { github: { client-id: one, client-secret: two } }
front-ends:
  tools: { ${settings} }
`;

describe('the configuration of a native front end', () => {
  it('takes loopback addresses with any port, https pages and schemes of apps', () => {
    const uris = 'http://127.0.0.1:8123/a, "http://[::1]/b", https://a.example/c, com.example:/d';
    const { config } = readFileConfig(file(`kind: native, redirect-uris: [${uris}]`));
    expect(config.frontEnds[0]).to.deep.include({
      redirectUris: ['http://127.0.0.1:*/a', 'http://[::1]:*/b', 'https://a.example/c', 'com.example:/d'],
      tokenDelivery: 'code',
      frontendUrl: undefined,
    });
  });

  it('takes every scheme that no browser and no system acts on', () => {
    const uris = ['vscode://acme.notes/auth', 'cursor://anysphere.cursor-mcp/cb', 'myapp://callback', 'web+notes:/cb'];
    const { config } = readFileConfig(file(`kind: native, redirect-uris: ["${uris.join('", "')}"]`));
    expect(config.frontEnds[0]?.redirectUris).to.deep.equal(uris);
  });

  it('takes the origins of its apps and extensions as browsers send them, and no others', () => {
    const withOrigins = (origins: string) =>
      file(`kind: native, redirect-uris: http://127.0.0.1/a, origins: ${origins}`);
    const origins = `chrome-extension://abcdefghijklmnopabcdefghijklmnop moz-extension://* safari-web-extension://*
      moz-extension://5f0a1b2c-3d4e-4f60-8a7b-9c0d1e2f3a4b capacitor://localhost https://localhost tauri://localhost
      app://obsidian.md ionic://localhost http://tauri.localhost http://localhost https://tauri.localhost
      vscode-webview://abc https://app.example.com`.split(/\s+/);
    expect(readFileConfig(withOrigins(`["${origins.join('", "')}"]`)).config.frontEnds[0]?.origins).to.deep.equal(
      origins,
    );
    const wrong = `null file:// file://localhost * https://* https://*.example.com http://localhost:* app://*
      http://app.example.com capacitor://localhost/ https://app.example.com/ HTTPS://localhost app://a/b
      https://localhost:443 data://x javascript://x chrome://settings chrome-extension://* about:blank
      https://user@localhost app://user@x app://x?y moz-extension://*.x`.split(/\s+/);
    for (const one of [...wrong, '']) {
      expect(faultsOfFile(withOrigins(`["${one}"]`)).join(), one).to.contain('front-ends.tools.origins');
    }
    const page = file('origin: https://a.example, origins: [capacitor://localhost]');
    expect(faultsOfFile(page).join()).to.match(/front-ends.tools.origins .*needs kind: native/);
  });

  it('takes schemes that unregistered clients may use, except for schemes that systems act on', () => {
    const withSchemes = (schemes: string) => file(`kind: native, clients: { registration: true, schemes: ${schemes} }`);
    const { config } = readFileConfig(withSchemes('[acmeide, AcmeReader]'));
    expect(config.frontEnds[0]?.clients).to.deep.include({ schemes: ['acmeide', 'acmereader'] });
    for (const scheme of ['javascript', 'File', 'ms-word', 'https', 'view-source', 'x-apple.systempreferences']) {
      expect(faultsOfFile(withSchemes(`[${scheme}]`)).join(), scheme).to.contain('clients.schemes must not name');
    }
    for (const scheme of ['"acme://"', '"1acme"', `"${'x'.repeat(41)}"`]) {
      expect(faultsOfFile(withSchemes(`[${scheme}]`)).join(), scheme).to.contain('clients.schemes must be');
    }
  });

  it('does not quote a secret that was given instead of the file with its keys', () => {
    const found = faultsOfFile(file('client-key-file: b5a1c0de'));
    expect(found.join()).to.contain('front-ends.tools.client-key-file').and.not.contain('b5a1c0de');
  });

  const scheme = 'must start with https:// (or http://), or with a scheme of an app';
  const https = 'must start with https://, unless its host is 127.0.0.1';
  const bare = 'must be a URL without user name and fragment';
  for (const [uri, fault] of Object.entries({
    'javascript:alert(1)': scheme,
    'JaVaScRiPt://x/%0aalert(1)': scheme,
    'data:text/html,x': scheme,
    'file:///etc/passwd': scheme,
    'ms-settings://x': scheme,
    'intent://x': scheme,
    'itms-services://x': scheme,
    'myapp:callback': scheme,
    'http://example.com/': https,
    'http://127.0.0.2/': https,
    'com.example.app://user@host/': bare,
    'com.example.app:/#f': bare,
    'https://*.example.com/': 'must not have a *',
    'http://localhost/?code=1': 'must not have code in its query',
  })) {
    it(`refuses the redirect URI ${uri}`, () => {
      const [found, ...others] = faultsOfFile(file(`kind: native, redirect-uris: ["${uri}"]`));
      expect(found).to.contain('front-ends.tools.redirect-uris').and.contain(fault);
      expect(others).to.deep.equal([]);
    });
  }

  it('is refused without any program, and printed as it is read', () => {
    expect(faultsOfFile(file('kind: native'))).to.deep.equal([
      'config.yaml:5:3 front-ends.tools needs redirect-uris or clients',
    ]);
    const text = file('kind: native, redirect-uris: http://127.0.0.1/a');
    const shared = `shared-memory: redis://127.0.0.1:7000\n${text}`;
    const printed = formatConfigFile(readFileConfig(shared).readings);
    expect(printed).to.contain('token-delivery: code').and.contain('redis://127.0.0.1:7000');
  });

  it('refuses an origin, a page, and another delivery than code', () => {
    const settings = 'kind: native, origin: https://a.example, frontend-url: https://a.example/, token-delivery: query';
    expect(faultsOfFile(file(settings)).join('\n'))
      .to.match(/origin .* must not be set with/)
      .and.match(/frontend-url .* must not be set with/)
      .and.match(/token-delivery .* must be code with/);
  });

  it('refuses the scheme of an app at a page, and a page without an origin', () => {
    const app = 'origin: https://a.example, redirect-uris: com.example:/a';
    expect(faultsOfFile(file(app)).join()).to.contain('must be inside');
    expect(faultsOfFile(file('token-delivery: code')).join()).to.contain('origin is required');
  });

  it('lets unregistered clients in at only one front end of a provider', () => {
    const open = 'clients: { registration: true }';
    const native = `kind: native, ${open}`;
    const foundOf = (settings: string, more = '') => faultsOfFile(file(settings) + more).join('\n');
    expect(foundOf(native)).to.equal('');
    const second = `  others: { ${native} }\n`;
    expect(foundOf(native, second)).to.contain('is the second for one provider');
    const register = '  register: { origin: https://a.example }\n';
    expect(foundOf(native, register)).to.contain('name of an endpoint');
    expect(foundOf('kind: native, clients: { days: 3 }')).to.contain('lets nobody in');
    expect(foundOf(`origin: https://a.example, ${open}`)).to.match(/needs .*native/);
  });

  it('warns if everybody may log in with unregistered clients', () => {
    const warnings = (text: string) => readFileConfig(text).warnings.join('\n');
    const open = file('kind: native, clients: { registration: true }');
    const allow = 'allow: { users: [octocat] }';
    const resource = `resources: { notes: { url: https://a.example } }\n${open.replace('kind:', 'resources: [notes], kind:')}`;
    for (const text of [open, resource]) expect(warnings(text)).to.contain('set allow');
    for (const closed of [
      open.replace('client-id: one', `client-id: one, ${allow}`),
      open.replace('kind: native', `kind: native, ${allow}`),
      resource.replace('a.example', `a.example, ${allow}`),
      file('kind: native, redirect-uris: http://127.0.0.1/a'),
    ]) {
      expect(warnings(closed)).not.to.contain('set allow');
    }
  });
});
