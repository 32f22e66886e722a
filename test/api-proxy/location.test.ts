import { expect } from 'chai';
import { relayedLocation } from '../../src/api-proxy/path.ts';

const base = new URL('https://api.example/v3/');
const from = new URL('https://api.example/v3/repos/old/a');
const mounted = 'https://login.example/api/github/';
const relayed = (location: string) => relayedLocation(location, from, base, mounted);

describe('a redirect of the API', () => {
  it('below its URL leads through the relay', () => {
    expect(relayed('https://api.example/v3/repos/new/a?b=c#d')).to.equal(
      'https://login.example/api/github/repos/new/a?b=c#d',
    );
    expect(relayed('/v3/repos/new')).to.equal('https://login.example/api/github/repos/new');
    expect(relayed('../new')).to.equal('https://login.example/api/github/repos/new');
    expect(relayed('?b')).to.equal('https://login.example/api/github/repos/old/a?b');
    expect(relayed('/v3/')).to.equal(mounted);
  });

  it('to anywhere else has no target', () => {
    for (const location of [
      ...['https://evil.example/v3/', '//evil.example/v3/', 'http://api.example/v3/a'],
      ...['https://api.example:444/v3/a', 'https://user@api.example/v3/a'],
      ...['https://api.example/v3', 'https://api.example/v3x/a', '/v3/../admin', '../../../admin'],
      ...['javascript:alert(1)', 'https://', '\\\\evil.example/v3/'],
    ]) {
      expect(relayed(location), location).to.equal(undefined);
    }
  });
});
