import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { SignJWT } from 'jose';
import { createAssertions } from '../../src/grants/machine-assertions.ts';
import { kinds } from '../../src/memory/kinds.ts';
import type { PublicKey } from '../../src/oauth/public-keys.ts';
import { createEndedLogins } from '../../src/resources/ended-logins.ts';
import { outcomeOf } from '../harness/expect/failure-code.ts';

const minute = 60_000;

describe('a machine that fills the memory', () => {
  const now = () => 1_800_000_000_000;

  it('with ended tokens does not bring back the login of a person', async () => {
    const logins = createEndedLogins({ now });
    await logins.end('a person', minute);
    for (let ended = 0; ended < kinds.endedLogins.most + 10; ended += 1) {
      await logins.end(`${ended}`, minute, 'ci');
    }
    expect(await logins.hasEnded('a person')).to.equal(true);
    expect(await logins.hasEnded('0')).to.equal(false);
  });

  it('with assertions does not make the assertion of another machine valid again', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const key: PublicKey = { key: publicKey, algorithms: ['EdDSA'] };
    const issuer = 'https://login.example.com/auth/provider';
    const assertions = createAssertions({ now }, { letter: 'j', most: 16 });
    const sign = (name: string, jti: string) =>
      new SignJWT({ iss: name, sub: name, aud: issuer, exp: now() / 1000 + 60, jti })
        .setProtectedHeader({ alg: 'EdDSA' })
        .sign(privateKey);
    const verify = (name: string, assertion: string) => assertions.verify(assertion, key, { name, issuer });
    const first = await sign('robot', 'first');
    expect(await verify('robot', first)).to.equal(true);
    for (let signed = 0; signed < 20; signed += 1) {
      await verify('crane', await sign('crane', `${signed}`));
    }
    expect(await outcomeOf(verify('robot', first))).to.equal('machine_assertion_invalid');
  });
});
