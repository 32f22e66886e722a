import { expect } from 'chai';
import { deriveKeys, deriveKeysFromFile, type Keys } from '../../src/sealing/keys.ts';
import { Secret } from '../../src/sealing/secret.ts';

const purposes = ['state', 'code', 'refreshToken', 'nonce'] as const;

function hex(keys: Keys): string[] {
  return purposes.flatMap((purpose) => keys[purpose].map((key) => key.toString('hex')));
}

function fromFile(current: string, ...previous: string[]): Keys {
  return deriveKeysFromFile([new Secret(current), ...previous.map((line) => new Secret(line))]);
}

async function fromClientSecret(secret: string): Promise<string[]> {
  return hex(await deriveKeys(undefined, new Secret(secret)));
}

const line = 'a line of a key file with 32 characters';

describe('the keys of a relay', () => {
  it('contain the keys of the previous line during a rotation, after the current keys', () => {
    const now = fromFile('the next key, of 32 or more characters');
    const before = fromFile(line);
    const both = fromFile('the next key, of 32 or more characters', line);
    for (const purpose of purposes) {
      expect(both[purpose]).to.deep.equal([...now[purpose], ...before[purpose]]);
    }
  });

  it('are different for different client secrets', async () => {
    const secrets = ['client secret', 'client secreT', 'client secret ', 'client', ''];
    const keys = await Promise.all(secrets.map(fromClientSecret));
    expect(new Set(keys.flat()).size).to.equal(secrets.length * purposes.length);
  });

  it('are different for a client secret and for a key file with the same text', async () => {
    const keys = new Set([...hex(fromFile(line)), ...(await fromClientSecret(line))]);
    expect(keys.size).to.equal(2 * purposes.length);
  });

  it('stay the same in every release, because refresh tokens and replicas depend on it', async () => {
    expect(hex(fromFile(line))).to.deep.equal([
      '00fa554458563df339eb00570c75b0f9a82c55a517b9f5c4f8a0768d73ecd42d',
      'cd6cd75b4c7c4c7c9376627716516ff93a8b06c34ce73a15910f12a8403592cf',
      'd57607c192cd512ac99bb37576db594269a82fe747f373261ffcb2a6de47e528',
      '4d1500a18624dd71273d0c26cf27326598c44ea5fd69823688ef86617277c678',
    ]);
    expect(await fromClientSecret('client secret')).to.deep.equal([
      '6bea68074a47dcd2af3a7ec25098b854f50de2fbf6cf9d4e5c18bf9965d507e0',
      '28b113f8a4962e90f7cfc3072e5af1984ace25dad986bdb671fe6312e4470486',
      '3066af8a80e3b2b0cae7e9d02926025a253330b5559f7d950ba806eacdb8b37f',
      '21577bb7001e3835ef04931e713a0be048a8cdb1fd8e61f22ad2311082d7c4e0',
    ]);
  });
});
