import { expect } from 'chai';
import { mapGuessedLocation, mapLocation, mapTarget } from '../../src/api-proxy/map-target.ts';

const base = new URL('https://api.example/v3/');
const mapped = (target: string) => mapTarget(target, '/api/github/', base)?.href;

describe('the path of a proxied request', () => {
  const kept: readonly (readonly [target: string, url: string])[] = [
    ['/api/github/', 'https://api.example/v3/'],
    ['/api/github/repos/a/b', 'https://api.example/v3/repos/a/b'],
    ['/api/github/repos/a/b/', 'https://api.example/v3/repos/a/b/'],
    ['/api/github/?page=2&q=a%2Fb', 'https://api.example/v3/?page=2&q=a%2Fb'],
    ['/api/github/a?q=../..//x?y', 'https://api.example/v3/a?q=../..//x?y'],
    ['/api/github/compare/main...next', 'https://api.example/v3/compare/main...next'],
    ['/api/github/.github/a.', 'https://api.example/v3/.github/a.'],
    ['/api/github/a%20b/%E2%82%AC', 'https://api.example/v3/a%20b/%E2%82%AC'],
    ['/api/github/why%3F/%3Fx/C%23', 'https://api.example/v3/why%3F/%3Fx/C%23'],
    ['/api/github/100%25', 'https://api.example/v3/100%25'],
    ["/api/github/~a/@b/c:d;e=f/(g)*!$&'+,", "https://api.example/v3/~a/@b/c:d;e=f/(g)*!$&'+,"],
    ['/api/github/https:', 'https://api.example/v3/https:'],
    ['/api/github/api/github/', 'https://api.example/v3/api/github/'],
  ];
  for (const [target, url] of kept) {
    it(`is kept below the URL: ${target}`, () => {
      expect(mapped(target)).to.equal(url);
    });
  }

  const refused = {
    'dot segments': ['..', '../', '../x', './', '.', 'a/../b', 'a/..', 'a/./b', '..?x', 'a/..?x'],
    'encoded dots': ['%2e%2e/', '.%2e/x', '%2E./x', '%2e', 'a/%2e%2e%2fb', '..%2fx', '..%5cx'],
    'encoded slashes': ['a%2fb', 'a%2Fb', '%2f', '%2f%2fevil.example/'],
    backslashes: ['a\\b', '..\\x', '\\evil.example', 'a%5cb', '%5C%5Cevil.example'],
    'double encoding': ['%252e%252e/', '%252fx', '%25%32%65', '%25252e/', 'a%252Fb', '%255c'],
    'empty segments': ['/', '/evil.example/', 'a//b', 'a//', '//a'],
    'parameters after dots': ['..;/x', '..;a=b/x', ';/x', '.;x', '%2e%2e;/x'],
    'encoded ? and # after dots': ['..%3f', '..%23/x', 'a/%2e%2e%3Fx', '.%3fx', '..%ef%bc%9f'],
    'dots with spaces': ['..%20/x', '%20../x', '...', '....//', '.%20.'],
    'dots in disguise': ['%ef%bc%8e%ef%bc%8e/x', '%e2%80%a5/x'],
    'slashes in disguise': ['%ef%bc%8fx', 'a%ef%bc%bcb'],
    'bytes that are not UTF-8': ['%c0%ae%c0%ae/x', '%c0%afx', '%ff', '%e0%80%af'],
    'control characters': ['%00', 'a%00.json', '%0d%0aHost:%20x', '%7f', '%09', 'a%0ab'],
    'broken percent-encoding': ['%', '%2', '%zz', 'a%2', '%%32%65', '%u002e%u002e/'],
    'what must be encoded': ['a b', 'a"b', 'a<b', 'a|b', 'a^b', 'a{b}', 'é', 'a\tb', '[a]', 'a`b'],
    fragments: ['#', 'a#b', '?a#b'],
    'control characters in the query': ['?a b', '?\r\nx', '?\t', '?é', '?\x7f'],
    'more than 64 segments': ['a/'.repeat(64)],
  };
  for (const [what, rests] of Object.entries(refused)) {
    it(`is refused with ${what}`, () => {
      for (const rest of rests) expect(mapped(`/api/github/${rest}`), rest).to.equal(undefined);
    });
  }

  it('is refused if it does not begin with the prefix, or with an encoded form of it', () => {
    for (const target of [
      '/api/githubx/a',
      '/api/github',
      '//api/github/a',
      '/API/GITHUB/a',
      '',
      '/api/%67ithub/a',
      '/api%2fgithub/a',
    ]) {
      expect(mapped(target), target).to.equal(undefined);
    }
  });
});

describe('a redirect of the API', () => {
  const from = new URL('https://api.example/v3/repos/old/a');
  const mounted = new URL('https://login.example/api/github/');
  const relayed = (location: string) => mapLocation(location, from, base, mounted);

  it('below its URL leads through the relay', () => {
    expect(relayed('https://api.example/v3/repos/new/a?b=c#d')).to.equal(
      'https://login.example/api/github/repos/new/a?b=c#d',
    );
    expect(relayed('/v3/repos/new')).to.equal('https://login.example/api/github/repos/new');
    expect(relayed('../new')).to.equal('https://login.example/api/github/repos/new');
    expect(relayed('?b')).to.equal('https://login.example/api/github/repos/old/a?b');
    expect(relayed('/v3/')).to.equal(mounted.href);
  });

  it('to anywhere else has no target', () => {
    for (const location of [
      'https://evil.example/v3/',
      '//evil.example/v3/',
      'http://api.example/v3/a',
      'https://api.example:444/v3/a',
      'https://user@api.example/v3/a',
      'https://api.example/v3',
      'https://api.example/v3x/a',
      '/v3/../admin',
      '../../../admin',
      'javascript:alert(1)',
      'https://',
      '\\\\evil.example/v3/',
    ]) {
      expect(relayed(location), location).to.equal(undefined);
    }
  });
});

describe('a redirect of a server that guesses the scheme of its address', () => {
  const mounted = new URL('https://notes.example.com/mcp');
  const relayed = (base: string, location: string) =>
    mapGuessedLocation(location, new URL('/mcp', base), new URL('/mcp', base), mounted);

  it('leads through the relay', () => {
    for (const [base, location] of [
      ['http://127.0.0.1:9000', 'https://127.0.0.1:9000/mcp/?a#b'],
      ['https://127.0.0.1:9000', 'http://127.0.0.1:9000/mcp/?a#b'],
      ['https://notes.example.com', 'http://notes.example.com/mcp/?a#b'],
      ['https://notes.example.com', 'http://notes.example.com:80/mcp/?a#b'],
      ['http://127.0.0.1:9000', '/mcp/?a#b'],
    ] as const) {
      expect(relayed(base, location), location).to.equal(`${mounted.href}/?a#b`);
    }
  });

  it('has no target if it leads to another server', () => {
    for (const [base, location] of [
      // At the default ports, the server with https may be another one, and may be the reason for the redirect.
      ['http://nas.local', 'https://nas.local/mcp/'],
      ['http://127.0.0.1:9000', 'https://127.0.0.1/mcp/'],
      ['http://127.0.0.1:9000', 'ftp://127.0.0.1:9000/mcp/'],
      ['http://127.0.0.1:9000', 'https://user@127.0.0.1:9000/mcp/'],
      ['http://127.0.0.1:9000', 'https://127.0.0.1:9000/other'],
      ['https://notes.example.com', 'http://evil.example/mcp/'],
    ] as const) {
      expect(relayed(base, location), location).to.equal(undefined);
    }
  });
});
