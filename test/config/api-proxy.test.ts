import { expect } from 'chai';
import { formatConfigFile } from '../../src/config/shown/print.ts';
import { limits } from '../../src/limits.ts';
import { paths } from '../../src/paths.ts';
import { faultsOfFile, readFileConfig, readingsOf, settingsOfFile } from './support/read.ts';

const base = `base-url: https://login.example.com
key-file: ./key
providers:
  github: { client-id: a, client-secret: b }
  gitlab: { client-id: c, client-secret: d }
front-ends:
`;
const app = (proxy: string, more = 'token-delivery: session, providers: [github]') =>
  `  app: { origin: https://app.example.com, ${more}, proxy: ${proxy} }\n`;
const other = (proxy: string) =>
  `  other: { origin: https://other.example.com, token-delivery: session, providers: [gitlab], proxy: ${proxy} }\n`;
const both = '  rest: { origin: https://rest.example.com }\n';

const file = (...frontEnds: string[]) => base + frontEnds.join('') + both;
const faults = (...frontEnds: string[]) => faultsOfFile(file(...frontEnds));
const api = '{ path: /api/github/, url: https://api.github.com/ }';
const apiWith = (more: string) => `[${api.replace(' }', `, ${more} }`)}]`;
/** A list of one API at this path. */
const at = (path: string, url = 'https://api.github.com/') => `[{ path: "${path}", url: "${url}" }]`;

/** The only fault, without its place. */
function fault(...frontEnds: string[]): string {
  const all = faults(...frontEnds);
  expect(all, all.join('\n')).to.have.length(1);
  const [, text = ''] = /^config\.yaml:7:\d+ (.*)$/.exec(all[0] ?? '') ?? [];
  return text;
}

describe('proxy of a front end', () => {
  it('is what its pages may use, by default with GET and HEAD', () => {
    const upload = '{ path: /upload/, url: "https://Uploads.github.com/v3/", methods: [POST, PUT] }';
    const { frontEnds } = readFileConfig(file(app(`[${api}, ${upload}]`))).config;
    const others = { requestHeaders: [], registration: 'github' };
    expect(frontEnds[0]?.apis).to.deep.equal([
      { path: '/api/github/', url: 'https://api.github.com/', methods: ['GET', 'HEAD'], ...others },
      {
        path: '/upload/',
        url: 'https://uploads.github.com/v3/',
        methods: ['POST', 'PUT'],
        ...others,
      },
    ]);
    expect(frontEnds[1]?.apis).to.deep.equal([]);
  });

  it('needs token-delivery session', () => {
    expect(fault(app(`[${api}]`, 'providers: [github]'))).to.equal(
      'front-ends.app.proxy needs config.yaml:7:3 front-ends.app.token-delivery session',
    );
  });

  it('names the provider if the front end may use several', () => {
    expect(fault(app(`[${api}]`, 'token-delivery: session'))).to.equal(
      'front-ends.app.proxy.provider is required, because the front end may use several providers',
    );
    const named = apiWith('provider: gitlab');
    const { config } = readFileConfig(file(app(named, 'token-delivery: session')));
    expect(config.frontEnds[0]?.apis[0]?.registration).to.equal('gitlab');
    expect(fault(app(named))).to.equal(
      'front-ends.app.proxy.provider names a provider that the front end may not use: did you mean github?',
    );
  });

  for (const path of [
    '/',
    '/api/',
    ...Object.values(paths).map((own) => `${own}/`),
    '/api/user/x/',
    '/auth/api/',
    '/readyz/x/',
    '/.well-known/',
    'api/',
    '/api/github',
    '//api/',
    '/a//b/',
    '/a/../b/',
    '/./',
    '/a%20b/',
    '/a b/',
    '/a?b/',
    `/${'a'.repeat(128)}/`,
    'https://login.example.com/api/github/',
  ]) {
    it(`cannot have the path ${path.slice(0, 40)}`, () => {
      expect(fault(app(at(path)))).to.match(/^front-ends\.app\.proxy\.path must /);
    });
  }

  for (const path of ['/api/users/', '/authors/', '/api/github-v3/', '/a.b/~c/_d/', '/healthzz/']) {
    it(`can have the path ${path}`, () => {
      expect(faults(app(at(path)))).to.deep.equal([]);
    });
  }

  for (const [url, message] of [
    ['http://api.github.com/', 'must start with https://'],
    ['https://api.github.com/v3', 'must end with a slash: add one'],
    ['https://api.github.com/?a=/', 'must not have a query'],
    ['https://api.github.com/?', 'must not have a query'],
    ['https://api.github.com/#/', 'must not have a fragment'],
    ['https://user:password@api.github.com/', 'must not hold a user name or password'],
    ['https://169.254.169.254/', 'must not point to a link-local or metadata address'],
    ['ftp://api.github.com/', 'must be a URL that starts with https://'],
    ['api.github.com', 'must be a URL that starts with https://'],
  ] as const) {
    it(`cannot have the URL ${url}`, () => {
      const text = fault(app(at('/api/github/', url)));
      expect(text.slice(0, 100)).to.contain(`front-ends.app.proxy.url ${message}`);
      expect(text).not.to.contain('password@');
    });
  }

  it('can have an http URL on this machine, or if that is allowed', () => {
    expect(faults(app(at('/api/github/', 'http://127.0.0.1:8080/')))).to.deep.equal([]);
    const elsewhere = file(app(at('/api/github/', 'http://api.internal/')));
    expect(faultsOfFile(`insecure-http: true\n${elsewhere}`)).to.deep.equal([]);
  });

  for (const methods of ['OPTIONS', 'CONNECT', 'TRACE', 'get', '"GET HEAD TRACE"', '[GET, get]']) {
    it(`cannot have the methods ${methods}`, () => {
      expect(fault(app(apiWith(`methods: ${methods}`)))).to.equal(
        'front-ends.app.proxy.methods must be one of: GET, HEAD, POST, PUT, PATCH, DELETE',
      );
    });
  }

  it('passes on further request headers', () => {
    const given = apiWith('request-headers: [X-Goog-Api-Key, X-A]');
    const { frontEnds } = readFileConfig(file(app(given))).config;
    expect(frontEnds[0]?.apis[0]?.requestHeaders).to.deep.equal(['x-goog-api-key', 'x-a']);
  });

  for (const [names, message] of Object.entries({
    'X-HTTP-Method-Override': 'must not name a header of connections, browsers, proxies',
    '[X-A, Cookie, Via]': 'must not name a header of connections, .* method or path: cookie, via$',
    X_A: 'must be names of headers',
    '"X-A:"': 'must be names of headers',
  })) {
    it(`cannot pass on ${names}`, () => {
      expect(fault(app(apiWith(`request-headers: ${names}`)))).to.match(
        new RegExp(`^front-ends.app.proxy.request-headers ${message}`),
      );
    });
  }

  it('has paths that do not overlap with the paths of any front end', () => {
    const collides = /proxy\.path is the same as another path, or one is below the other$/;
    for (const [one, two] of [
      ['/a/', '/a/'],
      ['/a/', '/a/b/'],
      ['/a/b/', '/a/'],
    ] as const) {
      const [found = '', ...more] = faults(app(at(one)), other(at(two)));
      expect(found)
        .to.match(/^config\.yaml:8:\d+ front-ends\.other\./)
        .and.to.match(collides);
      expect(more).to.deep.equal([]);
    }
    expect(faults(app(at('/a/')), other(at('/ab/')))).to.deep.equal([]);
    const twice = `[{ path: /a/, url: https://a.example/ }, { path: /a/ }]`;
    const [missing, found] = faults(app(twice));
    expect(missing).to.match(/proxy\.url is required$/);
    expect(found).to.match(collides);
  });

  it('is a list of maps with path and url', () => {
    expect(fault(app('/api/github/'))).to.equal('front-ends.app.proxy is not a list of maps, each with path and url');
    expect(fault(app('[]'))).to.equal('front-ends.app.proxy is an empty list');
    expect(faults(app('[/api/github/]'))).to.have.length(1);
    expect(faults(app('[{}]'))).to.deep.equal([
      'config.yaml:7:97 front-ends.app.proxy.path is required',
      'config.yaml:7:97 front-ends.app.proxy.url is required',
    ]);
    expect(fault(app('[{ path: /a/, url: https://a.example/, method: GET }]'))).to.equal(
      'front-ends.app.proxy.method is unknown: did you mean methods?',
    );
    const many = Array.from(Array(limits.apisOfFrontEnd + 1), () => api).join();
    expect(fault(app(`[${many}]`))).to.equal('front-ends.app.proxy has more than 20 entries');
  });

  it('belongs to a front end', () => {
    expect(faultsOfFile(`proxy: [${api}]\n${file()}`)).to.have.length(1);
    expect(faultsOfFile(`url: https://a.example/\n${file()}`)[0]).to.contain(
      'url belongs to an API: move it into an entry of proxy, in a front end',
    );
  });

  it('is printed as it is in the file', () => {
    const text = file(app(apiWith('methods: [GET, POST]')));
    const printed = formatConfigFile(readingsOf(settingsOfFile(text)));
    const apis = settingsOfFile(printed).frontEnds?.[0]?.inside.proxy?.map(({ values }) => values);
    expect(apis).to.deep.equal([
      { path: ['/api/github/'], url: ['https://api.github.com/'], methods: ['GET', 'POST'] },
    ]);
  });
});
