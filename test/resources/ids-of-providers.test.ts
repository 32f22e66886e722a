import { expect } from 'chai';
import { createDoor } from '../../src/resources/door.ts';
import { idAtProvider, identityAt, type Resource } from '../../src/resources/resource.ts';

/** A resource for the people of GitHub. */
const resource = (name: string, idsNameProvider: boolean): Resource => ({
  name,
  url: `https://${name}.example.com/`,
  registration: 'github',
  registrations: ['github', 'google'],
  idsNameProvider,
  audience: [name],
  allow: undefined,
  identity: { claims: [] },
  lifetime: 3600,
  scope: undefined,
  secrets: [],
  upstream: undefined,
  browser: undefined,
});

const door = (of: Resource) =>
  createDoor(of, {
    tokens: { open: () => undefined, remembers: () => false },
    endedLogins: { hasEndedCached: async () => false },
    people: 'https://github.com',
    audienceOf: () => undefined,
    rules: new Map(),
    issuer: '',
    now: Date.now,
  });

describe('the id of a person at a resource', () => {
  it('begins with the name of the provider if that can be one of a list', () => {
    const identity = { sub: '42', preferred_username: 'ada', groups: ['a'] };
    expect(identityAt(resource('one', false), identity)).to.equal(identity);
    expect(identityAt(resource('list', true), identity)).to.deep.equal({ ...identity, sub: 'github:42' });
  });

  it('leads back to the id at the provider, whatever that contains', () => {
    for (const sub of ['42', '', ':', 'github:42', 'a:b:c', 'é']) {
      for (const named of [false, true]) {
        const at = resource('any', named);
        expect(idAtProvider(at, identityAt(at, { sub }).sub), sub).to.equal(sub);
      }
    }
  });

  it('counts as the same person at all doors of a provider, so that a second resource gives no more places', () => {
    const one = door(resource('one', false)).holderName({ sub: '42' });
    expect(door(resource('list', true)).holderName({ sub: 'github:42' })).to.equal(one);
    const machine = { sub: 'machine:ci', credential: 'x' };
    expect(door(resource('list', true)).holderName(machine)).to.equal(door(resource('one', false)).holderName(machine));
  });
});
