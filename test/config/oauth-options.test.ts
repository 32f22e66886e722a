import { expect } from 'chai';
import { faults, type Given, minimal, onlyFault, read } from './support/read.ts';

const app = 'https://app.example.com';
const name = '--redirect-uri (FRONTEND_REDIRECT_URI)';

const redirectUris = (given: Given) => read(given).config.redirectUris;
const faultsOf = (...redirectUri: string[]) => faults({ flags: { redirectUri } });

describe('the redirect URIs of the front end', () => {
  it('are the front end URL by default', () => {
    expect(redirectUris({})).to.deep.equal([`${app}/`]);
    const frontendUrl = `${app}/page?tab=a%20b`;
    expect(redirectUris({ flags: { frontendUrl } })).to.deep.equal([frontendUrl]);
  });

  it('are the URIs of the flags, in order and as URL parsers write them', () => {
    const redirectUri = [`${app}/in`, 'HTTPS://APP.example.com:443/a/../b?c'];
    expect(redirectUris({ flags: { redirectUri } })).to.deep.equal([`${app}/in`, `${app}/b?c`]);
  });

  it('are separated by spaces in the variable', () => {
    const FRONTEND_REDIRECT_URI = ` ${app}/one  ${app}/two `;
    const given = { environment: { ...minimal, FRONTEND_REDIRECT_URI } };
    expect(redirectUris(given)).to.deep.equal([`${app}/one`, `${app}/two`]);
    const flags = { redirectUri: `${app}/three` };
    expect(redirectUris({ ...given, flags })).to.deep.equal([`${app}/three`]);
  });

  it('do not contain the front end URL if it cannot be a redirect URI, and plain logins still work', () => {
    for (const [frontendUrl, why] of Object.entries({
      [`${app}/?iss=a`]: 'has iss in its query',
      [`${app}/?code=a`]: 'has code in its query',
      [`${app}/`.padEnd(513, 'a')]: 'is longer than 512 characters',
    })) {
      const message = `${why}, so OAuth logins cannot return to it: give --redirect-uri (FRONTEND_REDIRECT_URI)`;
      const { config, warnings } = read({ flags: { frontendUrl } });
      expect(config.redirectUris).to.deep.equal([]);
      expect(warnings).to.deep.equal([`--frontend-url (FRONTEND_URL) ${message}`]);
      for (const more of [{ stateCheck: 'off' }, { redirectUri: `${app}/` }]) {
        expect(read({ flags: { frontendUrl, ...more } }).warnings).to.deep.equal([]);
      }
      expect(onlyFault({ flags: { frontendUrl, tokenDelivery: 'code' } })).to.contain(message);
    }
    expect(faults({ flags: { frontendUrl: `${app}/?state=a` } })).to.have.length(1);
  });

  it('are different, at most 20, and at most 512 characters long', () => {
    expect(faultsOf(`${app}/`, `${app}/a`, app)).to.deep.equal([`${name} number 3 is the same as an earlier one`]);
    const many = Array.from({ length: 21 }, (_, index) => `${app}/${index}`);
    expect(faultsOf(...many.slice(1))).to.deep.equal([]);
    expect(faultsOf(...many)).to.deep.equal([`${name} must not be given more than 20 times`]);
    const long = `${app}/`.padEnd(512, 'a');
    expect(faultsOf(long)).to.deep.equal([]);
    expect(faultsOf(`${long}a`).join()).to.contain('must have at most 512 characters');
  });

  it('are named by number in a fault', () => {
    expect(faultsOf(`${app}/a`, 'ftp://app.example.com')).to.deep.equal([
      `${name} number 2 must start with https:// (or http://), or with a scheme of an app and a slash (com.example.app:/callback), which no browser or system acts on itself`,
    ]);
    const FRONTEND_REDIRECT_URI = `${app}/a https://other.example`;
    expect(faults({ environment: { ...minimal, FRONTEND_REDIRECT_URI } })).to.deep.equal([
      `${name} "${FRONTEND_REDIRECT_URI}" number 2 must be inside --origin (FRONTEND_ORIGIN)`,
    ]);
    expect(faultsOf(' ')).to.deep.equal([`${name} " " must not be empty`]);
  });
});

describe('an origin with a *', () => {
  const origin = 'https://*.preview.example.com';
  const flags = { origin, tokenDelivery: 'code' };
  const local = { origin: 'http://localhost:*', tokenDelivery: 'code' };

  it('has redirect URIs with the same *', () => {
    expect(redirectUris({ flags })).to.deep.equal([`${origin}/`]);
    const redirectUri = [`${origin}/signed-in`, 'https://*.PREVIEW.example.com:443/a/../b'];
    expect(read({ flags: { ...flags, redirectUri } }).config).to.deep.include({
      redirectUris: [`${origin}/signed-in`, `${origin}/b`],
      origin,
      frontendUrl: undefined,
    });
    for (const other of [
      'https://a.preview.example.com/',
      'https://*.example.com/',
      'https://*.preview.example.com:8443/',
      `${app}/`,
    ]) {
      expect(onlyFault({ flags: { ...flags, redirectUri: other } })).to.equal(
        `${name} "${other}" must be inside --origin (FRONTEND_ORIGIN), with its *`,
      );
    }
    expect(faultsOf(`${origin}/`)).to.deep.equal([`${name} "${origin}/" must be inside --origin (FRONTEND_ORIGIN)`]);
    const taken = { ...flags, redirectUri: `${origin}/?a=b?&code=c` };
    expect(faults({ flags: taken }).join()).to.contain('must not have code in its query');
    const anyPort = 'http://localhost:*/b';
    expect(redirectUris({ flags: { ...local, redirectUri: anyPort } })).to.deep.equal([anyPort]);
  });

  it('takes OAuth logins only, and has no single page', () => {
    for (const tokenDelivery of ['query', 'fragment', 'session']) {
      expect(faults({ flags: { origin, tokenDelivery } })).to.include(
        `--origin (FRONTEND_ORIGIN) "${origin}" must not have a * unless --token-delivery (TOKEN_DELIVERY) is code or cms`,
      );
    }
    const frontendUrl = 'https://a.preview.example.com/';
    expect(faults({ flags: { ...flags, frontendUrl } })).to.deep.equal([
      `--frontend-url (FRONTEND_URL) "${frontendUrl}" must not be set if --origin (FRONTEND_ORIGIN) has a *`,
    ]);
  });

  it('is under https, and not under a public suffix', () => {
    for (const [wrong, why] of Object.entries({
      'http://*.preview.example.com': 'must start with https://',
      'https://*.vercel.app': 'anybody can have a name there',
      'https://x-*.example.com': 'whole first label',
    })) {
      const fault = onlyFault({ flags: { ...flags, origin: wrong } });
      expect(fault).to.contain(`"${wrong}" must`).and.contain(why);
    }
  });

  it('brings a warning that says who can log its users in', () => {
    const trusted = { trustedProxies: '127.0.0.1', refreshTokens: 'off' };
    const warningsOf = (given: object, baseUrl: string) =>
      read({ flags: { ...given, ...trusted, baseUrl } }).warnings.join();
    const remote = 'https://login.example.com';
    const programs = "every program that serves pages on a user's machine can log that user in";
    expect(warningsOf(local, remote)).to.equal(
      `--origin (FRONTEND_ORIGIN) is for development, but --base-url (BASE_URL) is not on this machine: ${programs}`,
    );
    expect(warningsOf(local, 'http://localhost:8000')).to.equal(`--origin (FRONTEND_ORIGIN) has a *: ${programs}`);
    expect(warningsOf(flags, remote)).to.equal(
      '--origin (FRONTEND_ORIGIN) has a *: every page under preview.example.com can log its users in: anybody who can publish there, even from a branch, can act as them',
    );
    expect(warningsOf({ ...flags, origin: `${origin}:8443` }, remote)).to.contain(
      ' under preview.example.com:8443 can ',
    );
  });
});

for (const [tokenDelivery, why] of Object.entries({
  code: ': otherwise anyone could exchange a leaked code at the callback',
  session: ': ',
  cms: ': ',
})) {
  it(`--token-delivery ${tokenDelivery} checks the state of every callback, and says why`, () => {
    const flags = { tokenDelivery, scope: 'repo', origin: 'http://localhost:5173' };
    expect(read({ flags }).config.stateCheck).to.equal('always');
    expect(read({ flags: { ...flags, stateCheck: 'always' } }).warnings).to.deep.equal([]);
    for (const stateCheck of ['browsers', 'off']) {
      expect(faults({ flags: { ...flags, stateCheck } })[0]).to.contain(
        `--state-check (STATE_CHECK) "${stateCheck}" must be always with --token-delivery (TOKEN_DELIVERY) ${tokenDelivery}${why}`,
      );
    }
  });
}

for (const tokenDelivery of ['session', 'cms']) {
  it(`--token-delivery ${tokenDelivery} uses no redirect URIs, and a warning says so`, () => {
    const redirectUri = 'http://localhost:5173/in';
    const flags = { tokenDelivery, redirectUri, scope: 'repo', origin: 'http://localhost:5173' };
    const { config, warnings } = read({ flags });
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include(`${name} has no effect with --token-delivery `);
    expect(config.redirectUris).to.deep.equal([]);
  });
}

describe('the refresh tokens', () => {
  const baseUrl = 'https://login.example.com';
  const keyFile = '/key';
  const files = { [keyFile]: { text: 'k'.repeat(32) } };
  const trusted = { baseUrl, trustedProxies: '127.0.0.1' };
  const warningsOf = (flags: NonNullable<Given['flags']>) => read({ flags, files }).warnings;

  it('have a lifetime in days', () => {
    const lifetime = (refreshLifetime: string) => read({ flags: { refreshLifetime } }).config.refreshLifetime;
    expect(lifetime('1')).to.equal(86_400);
    expect(lifetime('3650')).to.equal(3650 * 86_400);
  });

  it('need a key file unless the base URL is on loopback, and a single warning says so', () => {
    const [warning = '', ...others] = warningsOf(trusted);
    expect(warning).to.match(/^--key-file \(KEY_FILE\) is required for refresh tokens/);
    expect(others).to.deep.equal([]);
    expect(warningsOf({ ...trusted, refreshTokens: 'bearer' })).to.have.length(1);
  });

  it('cause no such warning with a key file, on loopback, or if they are off', () => {
    expect(warningsOf({ ...trusted, keyFile })).to.deep.equal([]);
    expect(warningsOf({ ...trusted, refreshTokens: 'off' })).to.deep.equal([]);
    expect(warningsOf({ ...trusted, stateCheck: 'off' })).to.deep.equal([]);
    for (const loopback of ['http://localhost:8000', 'http://127.0.0.1', 'http://[::1]:8000']) {
      expect(warningsOf({ baseUrl: loopback })).to.deep.equal([]);
    }
  });

  it('make the lifetime useless if they are off, with a warning', () => {
    expect(warningsOf({ refreshTokens: 'off', refreshLifetime: '7' })).to.deep.equal([
      '--refresh-lifetime (REFRESH_LIFETIME) has no effect: no front end gets refresh tokens',
    ]);
  });

  it('have no effect without a state, like the redirect URIs', () => {
    const flags = {
      provider: 'github',
      refreshTokens: 'bearer',
      refreshLifetime: '7',
      redirectUri: `${app}/`,
      revocationUrl: 'https://provider.example/revoke',
    };
    const warnings = warningsOf({ ...flags, stateCheck: 'off' });
    expect(warnings.map((warning) => warning.split(' ')[0])).to.have.members([
      '--refresh-tokens',
      '--refresh-lifetime',
      '--redirect-uri',
      '--revocation-url',
    ]);
    expect(warnings.join()).to.contain('--state-check (STATE_CHECK) off');
    expect(warningsOf(flags)).to.deep.equal([]);
  });
});
