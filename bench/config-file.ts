import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registration } from './registration.ts';

/**
 * Writes a configuration file with that many providers and front ends. The measured front end is the last one, where
 * a search from the beginning would find it late. The end of the benchmark removes the file.
 *
 * @param provider the address of the provider, which is that of all registrations
 */
export function configFile(provider: string, providers: number, frontEnds: number): string {
  const directory = mkdtempSync(join(tmpdir(), 'login-relay-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true }));
  const path = join(directory, 'config.yaml');
  const one = {
    'client-id': registration.clientId,
    'client-secret': registration.clientSecret,
    'authorize-url': `${provider}/authorize`,
    'token-url': `${provider}/token`,
    'user-url': `${provider}/user`,
    'state-check': 'always',
  };
  const content = {
    'base-url': registration.baseUrl,
    // The relay creates it.
    'key-file': './key',
    providers: { provider: one, ...entries(providers - 1, () => one) },
    'front-ends': {
      ...entries(frontEnds - 1, (name) => ({ origin: `https://${name}.example.com` })),
      // Otherwise, lookups would have to name one.
      app: { origin: registration.frontEnd, providers: ['provider'] },
    },
  };
  // JSON is YAML.
  writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
  return path;
}

function entries(count: number, entryOf: (name: string) => object): Record<string, object> {
  const names = Array.from({ length: count }, (_, index) => `entry-${index + 1}`);
  return Object.fromEntries(names.map((name) => [name, entryOf(name)]));
}
