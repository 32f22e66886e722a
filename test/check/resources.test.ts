import { expect } from 'chai';
import { checkAccess } from '../../src/check/access.ts';
import { readFileConfig } from '../config/support/read.ts';
import type { Page, Pages } from '../harness/provider/pages.ts';
import { pageFor, pageRequest } from '../harness/provider/pages.ts';
import { answer, json, redirect, reset } from '../harness/provider/provider-behaviours.ts';
import { serve } from '../harness/provider/serve.ts';
import { secretFile } from '../harness/relay/relay-under-test.ts';
import { keyLines } from '../harness/system/secret-file.ts';
import { diagnoseFile } from './support/check.ts';

/** The answer of a relay at a path that it does not have. */
const notFoundByRelay = json({ detail: 'There is nothing at this address.' }, 404, { 'X-Request-Id': 'a' });

const metadataPath = '/.well-known/oauth-protected-resource/mcp';

/** The challenge of a relay. */
const challengeOf = (metadataUrl: string) =>
  answer(401, '', { 'WWW-Authenticate': `Bearer resource_metadata="${metadataUrl}"` });

/** The report of `check` about a resource with these pages, and the requests for the start of a login. */
async function diagnosed(changes: (origin: string) => Pages) {
  const starts: (string | null)[] = [];
  let pages: Pages = {};
  const server = await serve((message, response) => {
    const request = pageRequest(message, '');
    if (request.url.pathname === '/auth/github') starts.push(request.query.get('resource'));
    (pageFor(request, pages) ?? answer(404))(response, request);
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const place = `Bearer error="x", resource_metadata="${origin}${metadataPath}"`;
  pages = {
    '/mcp': answer(401, '', { 'WWW-Authenticate': place }),
    [metadataPath]: json({
      resource: `${origin}/mcp`,
      authorization_servers: [`${origin}/auth/github`],
    }),
    ...changes(origin),
  };
  try {
    const { about } = await diagnoseFile(`base-url: ${origin}
key-file: ${await secretFile(keyLines)}
providers:
  github:
    client-id: a
    client-secret: b
    ${['authorize', 'token', 'user'].map((name) => `${name}-url: ${origin}/${name}`).join('\n    ')}
    token-request: body
resources:
  notes: { url: ${origin}/mcp }
  files: { url: ${origin}/files }
front-ends:
  app: { origin: ${origin}, token-delivery: code, resources: [notes, files] }
`);
    const of = (subject: string) => {
      const { verdict, message, fix } = about(`${subject} (notes)`) ?? {};
      return about(`${subject} (notes)`) && [verdict, message, fix].join(' | ');
    };
    return {
      starts,
      origin,
      resource: of('resource'),
      metadata: of('resource metadata'),
      endpoint: of('check endpoint'),
    };
  } finally {
    await server.close();
  }
}

describe('login-relay check asks for each resource without a token', () => {
  it('and is content with the challenge and the metadata of this relay', async () => {
    const { resource, metadata, starts, origin } = await diagnosed(() => ({}));
    expect(resource).to.equal('ok | asks for a token, and says where to log in | ');
    expect(metadata).to.equal('ok | lead clients to the logins of this relay | ');
    // Without a resource, the relay would start no login.
    expect(starts).to.deep.equal([`${origin}/mcp`]);
  });

  const table: readonly (readonly [what: string, page: string, reply: Page, said: RegExp])[] = [
    ['without a challenge', '/mcp', answer(401), /^problem .*not say where to log in .*WWW-Auth/],
    ['open', '/mcp', answer(200), /^warning .*without a token \(status 200\) .*\/auth\/check\/notes/],
    ['elsewhere', '/mcp', redirect('/'), /^warning .*without a token \(status 302\)/],
    [
      'in trouble',
      '/mcp',
      answer(503),
      /^warning .*\(status 503\) .*if it says that the check gets 404, .*\/check\/notes/,
    ],
    ['unknown to a relay', '/mcp', notFoundByRelay, /^problem .*has no such resource .*\/auth\/check\/notes before/],
    ['away', '/mcp', reset, /^warning .*cut before an answer .*start it/],
    ['nowhere', metadataPath, answer(404), /^problem .*\(status 404\) .*let its proxy pass \/.well-/],
    ['a page', metadataPath, answer(200, '<!doctype html>'), /^problem .*no metadata arrive/],
    ['of another one', metadataPath, json({ resource: 'x' }), /^problem .*of another resource/],
  ];
  for (const [what, page, reply, said] of table) {
    it(`and says what is wrong if ${page === '/mcp' ? 'it is' : 'its metadata are'} ${what}`, async () => {
      const found = await diagnosed(() => ({ [page]: reply }));
      expect(page === '/mcp' ? found.resource : found.metadata).to.match(said);
    });
  }

  it('and asks the relay whether it has a resource of this name', async () => {
    expect((await diagnosed(() => ({}))).endpoint).to.equal(undefined);
    const checkPage = (reply: Page) => () => ({ '/auth/check/notes': reply });
    expect((await diagnosed(checkPage(notFoundByRelay))).endpoint).to.match(
      /^problem \| the relay at http:\S+ has no resource of this name \| restart the relay with this configuration/,
    );
    const known = await diagnosed((origin) => checkPage(challengeOf(`${origin}${metadataPath}`))());
    expect(known.endpoint).to.equal('ok | the relay has a resource of this name | ');
  });

  it('and says if its proxy asks about another resource', async () => {
    const { resource } = await diagnosed((origin) => ({
      '/mcp': challengeOf(`${origin}/.well-known/oauth-protected-resource/files`),
    }));
    expect(resource).to.match(
      /^problem \| asks for a token of another resource, files \| let its proxy ask \S+\/auth\/check\/notes before/,
    );
  });

  it('and says what is wrong if its metadata lead to another relay', async () => {
    const { metadata } = await diagnosed((origin) => ({
      [metadataPath]: json({
        resource: `${origin}/mcp`,
        authorization_servers: ['https://other.example/auth/github'],
      }),
    }));
    expect(metadata).to.match(/^problem .*to other logins/);
  });
});

describe('login-relay check says who may use a resource', () => {
  const said = (changes: Readonly<Record<'provider' | 'resource' | 'frontEnd', string>>) => {
    const { provider, resource, frontEnd } = changes;
    const { config } = readFileConfig(
      `base-url: https://login.example.com
key-file: ./key
providers: { github: { client-id: a, client-secret: b, ${provider} } }
resources: { notes: { url: https://notes.example.com/mcp, ${resource} } }
front-ends:
  app: { origin: https://app.example.com, token-delivery: code, resources: [notes], ${frontEnd} }
`,
      { files: { './ci': { text: 'x'.repeat(32) } } },
    );
    return checkAccess(config, new Map()).map((one) => [one.subject, [one.verdict, one.message, one.fix].join(' | ')]);
  };
  const subject = 'who may use notes (app at github)';
  const nothing = { provider: '', resource: '', frontEnd: '' };

  it('and warns if nothing says it', () => {
    const open = 'warning | everybody with an account there may use notes | say who may log in: set allow';
    expect(said(nothing)).to.deep.equal([[subject, open]]);
    for (const place of Object.keys(nothing)) {
      const allow = { ...nothing, [place]: 'allow: { users: [ada] }' };
      expect(said(allow)).to.deep.equal([[subject, 'ok | the user ada | ']]);
    }
  });

  it('and which people of which provider, if it opens to browsers and has several', () => {
    const { config } = readFileConfig(`base-url: https://login.example.com
key-file: ./key
trusted-proxies: [127.0.0.1]
providers:
  github: { client-id: a, client-secret: b }
  google: { client-id: c, client-secret: d, scope: openid }
resources:
  wiki:
    url: https://wiki.example.com/
    provider: [google, github]
    allow: { organizations: [github:example], email-domains: [google:example.com] }
    browser: true
`);
    const found = checkAccess(config, new Map()).map(({ subject, verdict, message }) => [subject, verdict, message]);
    expect(found.map((finding) => finding.join(' | '))).to.deep.equal([
      'who may use wiki (browsers at github) | problem | the organization example, but the scope has no read:org, so the provider does not say who a person is',
      'who may use wiki (browsers at google) | problem | the e-mail domain example.com, but the scope has no email, so the provider does not say who a person is',
    ]);
  });

  it('and says nothing of machines, because the entry of a machine is its permission', () => {
    const machine = `allow: { users: [ada] } }\n  ci: { kind: machine, secret-file: ./ci, resources: [notes]`;
    expect(said({ ...nothing, frontEnd: machine })).to.deep.equal([[subject, 'ok | the user ada | ']]);
  });

  it('and which scope is missing for its identity', () => {
    const asking = { ...nothing, resource: 'identity: [email, groups], allow: { users: [ada] }' };
    const [missing] = said(asking);
    expect(missing?.[1]).to.match(
      /^problem \| the user ada, but the scope has no user:email, and no read:org, .*who a person is \| add user:email and read:org/,
    );
    expect(said({ ...asking, provider: 'scope: user:email read:org' })[0]?.[1]).to.match(/^ok/);
    expect(said({ ...asking, frontEnd: 'scope: user read:org' })[0]?.[1]).to.match(/^ok/);
  });
});
