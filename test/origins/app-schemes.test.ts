import { expect } from 'chai';
import * as v from 'valibot';
import { mayUnregisteredClientUse, readAppScheme } from '../../src/origins/app-schemes.ts';
import { nativeRedirectUri, redirectUri } from '../../src/origins/origin-schemas.ts';

/** Schemes that a browser, a phone or a system acts on. */
const actedOn =
  `javascript data vbscript file blob about view-source ws wss ftp filesystem jar mailto tel sms intent chrome edge
  resource market facetime sip ssh smb steam ms-settings ms-word ms-appinstaller microsoft-edge
  microsoft.windows.camera search-ms shell chrome-extension chrome-untrusted moz-extension moz-icon
  safari-web-extension devtools itms itms-apps itms-services shortcuts app-prefs prefs x-apple.systempreferences
  googlechromes com.apple.tv com.android.settings android-app content ldap telnet jnlp urn tag mid`.split(/\s+/);

/** Ways to write the same address that a browser, a proxy or a parser may take for it. */
const spellings: readonly ((scheme: string) => string)[] = [
  (scheme) => `${scheme}:alert(1)`,
  (scheme) => `${scheme}:/x`,
  (scheme) => `${scheme}://x/y`,
  (scheme) => `${scheme.toUpperCase()}://x/y`,
  (scheme) => `${scheme.slice(0, 1).toUpperCase()}${scheme.slice(1)}:///x`,
  (scheme) => ` ${scheme}://x`,
  (scheme) => `\t${scheme}://x`,
  (scheme) => `\u0000${scheme}://x`,
  (scheme) => `\u00a0${scheme}://x`,
  (scheme) => `\ufeff${scheme}://x`,
  (scheme) => `${scheme.slice(0, 1)}\t${scheme.slice(1)}://x`,
  (scheme) => `${scheme.slice(0, 1)}\n${scheme.slice(1)}://x`,
  (scheme) => `${scheme.slice(0, 1)}\r\n${scheme.slice(1)}://x`,
  (scheme) => `${scheme}\t://x`,
  (scheme) => `${scheme} ://x`,
  (scheme) => `%${scheme.charCodeAt(0).toString(16)}${scheme.slice(1)}://x`,
  (scheme) => `${scheme}%3a//x`,
  (scheme) => `${scheme}&colon;//x`,
  (scheme) => `${scheme}\uff1a//x`,
  (scheme) => `${scheme}:\\\\x`,
  (scheme) => `${scheme}:%2f%2fx`,
  (scheme) => `/${scheme}://x`,
  (scheme) => `//${scheme}://x`,
];

describe('a scheme that a browser or a system acts on', () => {
  for (const scheme of actedOn) {
    it(`opens no app, however it is written: ${scheme}`, () => {
      expect(mayUnregisteredClientUse(`${scheme}://x`, [scheme])).to.equal(false);
      for (const spell of spellings) {
        const address = spell(scheme);
        for (const schema of [redirectUri, nativeRedirectUri]) {
          expect(v.safeParse(schema, address).success, JSON.stringify(address)).to.equal(false);
        }
        expect(readAppScheme(address)).to.equal(undefined);
      }
    });
  }
});

describe('the address of an app', () => {
  it('is compared as a browser writes it', () => {
    for (const [given, read] of [
      ['CURSOR://Anysphere.cursor-mcp/a/../cb', 'cursor://Anysphere.cursor-mcp/cb'],
      ['com.example.app:/cb?x=1', 'com.example.app:/cb?x=1'],
      ['exp://192.0.2.7:8081/--/cb', 'exp://192.0.2.7:8081/--/cb'],
      ['myapp:///cb', 'myapp:///cb'],
    ] as const) {
      expect(v.parse(nativeRedirectUri, given)).to.equal(read);
    }
  });

  it('has no user name, no password, no fragment, and no parameter of an answer', () => {
    for (const address of [
      'myapp://user@x/',
      'myapp://:password@x/',
      'myapp://x/#',
      'myapp://x/#f',
      'myapp://x/?code=1',
      'myapp:/?state=1',
      'myapp://x/"',
      'myapp://x/<',
      'myapp://x/\\',
      'myapp://x/ä',
      'myapp://x:99999/',
    ]) {
      expect(v.safeParse(nativeRedirectUri, address).success, address).to.equal(false);
    }
  });

  it('may be used by an unregistered client if its scheme has a dot, is known, or is listed', () => {
    for (const uri of [
      'com.example.app:/cb',
      'cursor://x/cb',
      'vscode://a.b/cb',
      'vscode-insiders://a.b/cb',
      'vscodium://a.b/cb',
      'windsurf://x/cb',
      'zed://x/cb',
      'warp://x/cb',
      'raycast://x/cb',
      'exp://192.0.2.7:8081/cb',
      'mine://cb',
      'https://app.example/cb',
      'http://127.0.0.1:*/cb',
    ]) {
      expect(mayUnregisteredClientUse(uri, ['mine']), uri).to.equal(true);
    }
    for (const uri of ['unheardof://cb', 'cursor2://cb', 'minex://cb', 'cursor:cb', 'mailto:x@y.example', '']) {
      expect(mayUnregisteredClientUse(uri, ['mine']), uri).to.equal(false);
    }
  });
});
