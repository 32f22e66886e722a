import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { presets } from '../../src/providers/presets.ts';
import { known } from '../config/support/read.ts';
import { startedOnce } from '../harness/system/started-once.ts';
import { Recorder, type Recording } from './support/recorder.ts';

/**
 * The requests of login-relay 0.4 to the provider of each preset. Never record them again, because users of a preset
 * depend on them.
 */
const recordings: Readonly<Record<string, Recording>> = JSON.parse(
  readFileSync(new URL('requests-of-0.4.json', import.meta.url), 'utf8'),
);

describe('the requests to the provider of a preset', () => {
  const recorder = startedOnce(
    'the recorder',
    () => Recorder.start(),
    (one) => one.stop(),
  );

  for (const [name, recording] of Object.entries(recordings)) {
    it(`equal the requests of 0.4, byte for byte: ${name}`, async () => {
      const { host, tenant } = presets.find((one) => one.name === name) ?? {};
      const flags = {
        provider: name,
        clientId: 'client:1/a',
        baseUrl: 'https://login.example.com',
        ...(host && { providerHost: 'id.example.com/base' }),
        ...(tenant && { providerTenant: 'staff' }),
      };
      expect(await recorder().record(known({ flags }))).to.deep.equal(recording);
    });
  }
});
