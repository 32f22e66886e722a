import { expect } from 'chai';
import { faultsOfFile, readFileConfig } from './support/read.ts';

const file = (lists: string, more = '', frontEnd = 'origin: https://app.example.com') => `
base-url: https://login.example.com
key-file: ./key
providers:
  crm: { client-id: one, client-secret: first, provider: github, ${lists} }
front-ends:
  app: { ${frontEnd} }
${more}`;

describe('the fields that front ends get besides their tokens', () => {
  it('are listed by their names', () => {
    const [{ provider }] = readFileConfig(file('token-fields: [instance_url, user.id~2], callback-fields: [realmId]'))
      .config.registrations;
    const { tokenFields, callbackFields } = 'known' in provider ? provider.known : {};
    expect(tokenFields).to.deep.equal(['instance_url', 'user.id~2']);
    expect(callbackFields).to.deep.equal(['realmId']);
  });

  for (const name of [
    'access_token',
    'refresh_token',
    'token_type',
    'expires_in',
    'scope',
    'id_token',
    'refresh_token_expires_in',
    'identity',
    'provider',
    'renewable',
    'error',
    'error_description',
    'code',
    'state',
    'iss',
    'client_secret',
    '__proto__',
    'constructor',
    'prototype',
  ]) {
    it(`cannot be ${name}`, () => {
      for (const list of ['token-fields', 'callback-fields']) {
        expect(faultsOfFile(file(`${list}: [ok, ${name}]`)).join()).to.contain(
          'must not name a field of OAuth or of the relay',
        );
      }
    });
  }

  for (const [why, list, fault] of [
    ['a space', '["a b c d e"]', 'more than 4'],
    ['characters of JSON', `['a"b']`, 'letters, digits'],
    ['65 characters', `[${'a'.repeat(65)}]`, '1 to 64'],
    ['a repetition', '[a, b, a]', 'twice'],
    ['five names', '[a, b, c, d, e]', 'more than 4'],
  ] as const) {
    it(`cannot have ${why}`, () => {
      expect(faultsOfFile(file(`token-fields: ${list}`)).join()).to.contain(fault);
    });
  }

  it('have a single source each', () => {
    const faults = faultsOfFile(file('token-fields: [a, b], callback-fields: [b]'));
    expect(faults.join()).to.contain('has b, which is in').and.to.contain('token-fields, too');
  });

  it('are a warning if no front end can get them', () => {
    const fields = 'token-fields: [instance_url], callback-fields: [realmId]';
    const warnings = (...given: Parameters<typeof file>) =>
      readFileConfig(file(...given)).warnings.filter((text) => text.includes('-fields'));
    expect(warnings(fields)).to.deep.equal([]);
    const ofCms = warnings(fields, '', 'origin: https://app.example.com, token-delivery: cms');
    expect(ofCms.join()).to.match(/token-fields has no effect.*callback-fields has no effect/);
    const resource = 'resources:\n  api: { url: https://api.example.com/ }\n';
    const forResource = 'origin: https://app.example.com, token-delivery: code, resources: [api]';
    expect(warnings(fields, resource, forResource)).to.have.lengthOf(2);
  });
});
