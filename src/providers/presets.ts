import { github } from './github.ts';
import type { Provider } from './provider.ts';

/** Every preset that `--provider` can name. */
export const presets: ReadonlyMap<string, Provider> = new Map(
  [github].map((provider) => [provider.name, provider]),
);
