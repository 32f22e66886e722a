import { expect } from 'chai';
import { doorPaths, endpointNames, paths } from '../../src/paths.ts';
import { faults, faultsOfFile, onlyFault, read, readFileConfig } from './support/read.ts';

const withPath = (callbackPath: string, more = {}) => ({ flags: { callbackPath, ...more } });

const { withSessions, withResources, withBrowsers } = endpointNames;

/** A file with two providers, and more lines. */
const file = (one: string, two: string, more = '') => `
base-url: https://login.example.com
key-file: ./key
providers:
  github: { client-id: one, client-secret: first${one} }
  staff: { issuer: https://id.example.com, client-id: two, client-secret: second${two} }
front-ends:
  app: { origin: https://app.example.com, redirect-uris: [https://app.example.com/oauth2/callback] }
  desk: { origin: https://desk.example.com, token-delivery: session, proxy: [{ path: /api/jobs/, url: https://api.example/, provider: github }] }
${more}`;

describe('a callback path', () => {
  it('replaces the default callback path below the base URL, for every path of the registration', () => {
    const baseUrl = 'https://my.host/sso';
    const { config } = read(withPath('/oauth2/callback', { provider: 'github', baseUrl }));
    const callbackUri = 'https://my.host/sso/oauth2/callback';
    expect(config.callbackUri).to.equal(callbackUri);
    expect(config.paths.map((path) => path.callbackUri)).to.deep.equal([callbackUri, callbackUri]);
    expect(config.paths.map(({ word }) => word)).to.deep.equal(['provider', 'github']);
  });

  it('is separate for each registration of a file', () => {
    const { registrations } = readFileConfig(
      file(', callback-path: /oauth2/callback', ', callback-path: /signin-oidc'),
    ).config;
    expect(registrations.map(({ callbackUri }) => callbackUri)).to.deep.equal([
      'https://login.example.com/oauth2/callback',
      'https://login.example.com/signin-oidc',
    ]);
  });

  for (const path of [
    '/oauth2/callback',
    '/accounts/github/login/callback/',
    '/signin-oidc',
    '/auth/callback',
    '/auth/google/callback',
    '/auth/github/callback',
    '/auth/provider/callback',
    '/api/auth/callback/github',
    '/login/oauth2/code/x.y~z_1',
    '/..a/b..',
    '/api/users',
    '/client.json',
  ]) {
    it(`may be ${path}`, () => {
      expect(faults(withPath(path, { provider: 'github' }))).to.deep.equal([]);
    });
  }

  for (const path of [
    'oauth2/callback',
    'https://login.example.com/oauth2/callback',
    '//evil.example/callback',
    '/oauth2//callback',
    '/oauth2/./callback',
    '/oauth2/../callback',
    '/oauth2/..',
    '/oauth2/%63allback',
    '/oauth2/callback?x=1',
    '/oauth2/callback#x',
    '/oauth2\\callback',
    '/oauth2/call back',
    '/oauth2/:name',
    '/oauth2/*',
    '/oauth2/(a)',
    '/öauth2/callback',
    '/',
    `/${'a'.repeat(256)}`,
  ]) {
    it(`cannot be ${path.slice(0, 50)}`, () => {
      expect(onlyFault(withPath(path))).to.match(/^--callback-path \(PROVIDER_CALLBACK_PATH\) "\/?.*" must /);
    });
  }

  for (const path of [
    ...Object.values(paths),
    ...Object.values(doorPaths),
    ...[...withSessions, ...withResources, ...withBrowsers].map((name) => `/auth/${name}/callback`),
    '/api/user/',
    '/api/user/callback',
    '/API/User',
    '/api',
    '/readyz/x',
    '/.well-known/callback',
    '/.well-known/oauth-authorization-server/auth/provider',
    '/auth/',
    '/auth/provider',
    '/auth/provider/token',
    '/auth/provider/callback/x',
    '/AUTH/Provider/token',
    '/auth/github/x',
    '/.Login-Relay/x/',
  ]) {
    it(`is refused at a path of the relay: ${path}`, () => {
      expect(onlyFault(withPath(path, { provider: 'github' }))).to.contain('path of the relay');
    });
  }

  it('gets no fault because of another one, in the name of the path', () => {
    const found = faults(withPath('/oauth2/callback', { provider: 'github', pathName: 'a/b' }));
    expect(found.filter((fault) => JSON.stringify(fault).includes('/oauth2/callback'))).to.deep.equal([]);
    expect(found).to.have.lengthOf(1);
  });

  it('is refused below the path of the base URL, whose removal would hide it', () => {
    const fault = onlyFault(withPath('/sso/callback', { baseUrl: 'https://my.host/sso' }));
    expect(fault).to.contain('path of the relay, or is below one: /sso');
  });

  it('is refused where a login ends at a page of a front end', () => {
    const given = { baseUrl: 'https://app.example.com', frontendUrl: 'https://app.example.com/oauth2/callback' };
    expect(onlyFault(withPath('/oauth2/callback/', given))).to.contain('is a page of a front end');
  });

  const given: Readonly<Record<string, [one: string, two: string, more: string, fault: RegExp]>> = {
    "another registration's": [
      ', callback-path: /oauth2/callback',
      ', callback-path: /OAuth2/callback/',
      '',
      /providers\.staff\.callback-path is that of providers\.github, too: register another/,
    ],
    "another registration's default": [
      ', callback-path: /auth/staff/callback',
      '',
      '',
      /providers\.github\.callback-path .* contains a path of the relay, or is below one: \/auth\/staff/,
    ],
    "the url of a resource's": [
      ', callback-path: /mcp/callback',
      '',
      'resources:\n  tools: { url: https://login.example.com/mcp, provider: github }\n',
      /callback-path .* contains the url of resources\.tools/,
    ],
    'below an API': [
      ', callback-path: /api/jobs/callback',
      '',
      '',
      /callback-path .* contains the path \/api\/jobs\/ of proxy/,
    ],
    'above an API': [', callback-path: /api/jobs', '', '', /callback-path .* contains the path \/api\/jobs\/ of proxy/],
  };
  for (const [where, [one, two, more, fault]] of Object.entries(given)) {
    it(`is refused if it is ${where}`, () => {
      expect(
        faultsOfFile(file(one, two, more))
          .filter((text) => text.includes('callback-path'))
          .join('\n'),
      ).to.match(fault);
    });
  }

  it('may be the path of a resource at another host', () => {
    const more = 'resources:\n  tools: { url: https://mcp.example.com/oauth2, provider: github }\n';
    const all = faultsOfFile(file(', callback-path: /oauth2/callback', '', more));
    expect(all.filter((text) => text.includes('callback-path'))).to.deep.equal([]);
  });
});
