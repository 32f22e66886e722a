import { expect } from 'chai';
import { findEndedLogins } from '../../src/cli/logins-ended-by-reload.ts';
import { readFileConfig } from '../config/support/read.ts';

/** A configuration with the resource `wiki`, as it is before a reload or after it. */
function configWith(wiki: string, clientId = 'a') {
  return readFileConfig(`base-url: https://login.example.com
key-file: ./key
trusted-proxies: 127.0.0.1
providers:
  github: { client-id: ${clientId}, client-secret: b }
  google: { client-id: c, client-secret: d }
resources:
  board: { url: https://board.example.com/, provider: github, browser: true }
${wiki && `  wiki: { ${wiki}, browser: true }`}
front-ends: { app: { origin: https://a.example.com } }
`).config;
}

const url = 'url: https://wiki.example.com/';
const ofOne = `${url}, provider: github`;
const ofList = `${url}, provider: [github]`;
const ofTwo = `${url}, provider: [github, google]`;

describe('the logins that a reload ends', () => {
  for (const [what, before, after, expected] of [
    [
      'if the ids get the name of the provider',
      ofOne,
      ofTwo,
      'ids of people now begin with the name of the provider, as in github:583231, and all logins of this resource',
    ],
    [
      'if the ids lose the name of the provider',
      ofList,
      ofOne,
      'ids of people no longer begin with the name of the provider, and all logins of this resource',
    ],
    ['if one of two providers goes', ofTwo, ofList, 'logins at google of this resource'],
    ['if the address changes', ofOne, ofOne.replace('wiki.', 'other.'), 'all logins of this resource'],
    ['if the resource goes', ofOne, '', 'all logins of this resource'],
  ] as const) {
    it(`are named ${what}`, () => {
      expect(findEndedLogins(configWith(before), configWith(after))).to.deep.equal([
        `resources.wiki: ${expected} have ended`,
      ]);
    });
  }

  it('are those of each resource if the client of the provider changes', () => {
    expect(findEndedLogins(configWith(ofTwo), configWith(ofTwo, 'other'))).to.have.members([
      'resources.board: all logins of this resource have ended',
      'resources.wiki: logins at github of this resource have ended',
    ]);
  });

  it('are not named if they go on', () => {
    expect(findEndedLogins(configWith(ofOne), configWith(`${ofOne}, allow: { users: [1] }`))).to.deep.equal([]);
    expect(findEndedLogins(configWith(ofList), configWith(ofTwo))).to.deep.equal([]);
    expect(findEndedLogins(configWith(''), configWith(ofTwo))).to.deep.equal([]);
  });
});
