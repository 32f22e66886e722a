import { expect } from 'chai';
import { deriveStateKey } from '../../src/login/keys.ts';
import { Secret } from '../../src/secret.ts';

async function derived(secret: string): Promise<string> {
  const [key, ...others] = await deriveStateKey(new Secret(secret));
  expect(others).to.deep.equal([]);
  expect(key).to.have.lengthOf(32);
  return key.toString('hex');
}

describe('the state key derived from the client secret', () => {
  it('is the same for the same secret, so that replicas agree', async () => {
    expect(await derived('client secret')).to.equal(await derived('client secret'));
  });

  it('is another for another secret', async () => {
    const keys = ['client secret', 'client secreT', 'client secret ', 'client', ''].map(derived);
    expect(new Set(await Promise.all(keys)).size).to.equal(keys.length);
  });

  it('does not hold the secret', async () => {
    const secret = 'a-client-secret-of-32-characters';
    expect(await derived(secret)).not.to.equal(Buffer.from(secret).toString('hex'));
  });

  it('stays the same from one release to the next: pending logins and replicas depend on it', async () => {
    expect(await derived('client secret')).to.equal(
      'd2a924468256b0369a414490ab489a531da98ddeddc1a6cf411ac7cd2ec57223',
    );
  });
});
