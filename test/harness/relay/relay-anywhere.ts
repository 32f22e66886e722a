import { StrictProvider } from '../provider/strict-provider.ts';
import { eventually } from '../system/fault.ts';
import { freePort } from '../system/free-port.ts';
import { RelayProcess } from './relay-process.ts';
import {
  type FlagChanges,
  flagsFor,
  RelayUnderTest,
  registration,
  withSecretFile,
} from './relay-under-test.ts';

interface Surroundings {
  flags?: FlagChanges;
  env?: Record<string, string>;
  /** Words of another command that runs the relay. */
  launcher?: string[];
  /** The address that the provider listens on; 127.0.0.1 if it is left out. */
  providerHost?: string;
}

/** Runs the task with a relay that need not be able to say that it listens; ends it by force. */
export async function withRelayIn<T>(
  { flags: changes = {}, env = {}, launcher = [], providerHost }: Surroundings,
  task: (underTest: RelayUnderTest) => Promise<T>,
): Promise<T> {
  const provider = await StrictProvider.start(registration(), providerHost);
  try {
    return await withSecretFile(provider.registration.clientSecret, async (file) => {
      const port = await freePort();
      const changed = typeof changes === 'function' ? await changes(provider) : changes;
      const flags = { ...flagsFor(provider, file), ...changed, port: `${port}` };
      const relay = new RelayProcess({ flags, env, launcher });
      const underTest = new RelayUnderTest(relay, port, provider);
      try {
        const tooEarly = relay.ended.then(({ code, stderr }) => {
          throw new Error(`the relay ended with ${code} too early: ${stderr}`);
        });
        await Promise.race([eventually(() => underTest.get('/healthz')), tooEarly]);
        tooEarly.catch(() => {});
        return await task(underTest);
      } finally {
        await relay.stop('SIGKILL');
      }
    });
  } finally {
    await provider.stop();
  }
}
