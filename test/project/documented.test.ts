import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { presentLists } from '../../scripts/promised.ts';
import { fileSettings, options } from '../../src/config/settings/settings.ts';
import { failureCodes } from '../../src/failures/relay-error.ts';
import { createMemoryMetrics, createMetricFactories, createRelayMetrics } from '../../src/observability/metrics.ts';
import { doorPaths, doorStartPath, pathOfAnswer } from '../../src/paths.ts';

const root = new URL('../../', import.meta.url);

/** The page that describes the options of each group of the help. */
const pageOfGroup: Readonly<Record<string, string>> = {
  Required: 'docs/providers.md',
  Provider: 'docs/providers.md',
  'Front end': 'docs/front-end.md',
  Listening: 'docs/operations.md',
  'Several relays': 'docs/operations.md',
  'Logs and metrics': 'docs/operations.md',
  'Login protection': 'docs/security.md',
  'Configuration file': 'docs/configuration.md',
};

/** The page that describes what only a file can give. `login-relay pages` prints the keys of `texts`. */
const pageOfLevel: Readonly<Record<string, string>> = {
  providers: 'docs/providers.md',
  resources: 'docs/resources.md',
  browser: 'docs/resources.md',
  'front-ends': 'docs/configuration.md',
  proxy: 'docs/configuration.md',
  pages: 'docs/configuration.md',
  allow: 'docs/access.md',
  clients: 'docs/clients.md',
};

/** A word, or one of several words, that a page must contain as code. */
interface Entry {
  readonly page: string;
  readonly words: readonly string[];
}

const ofOptions = Object.values(options).map(
  ({ group, flag, key }): Entry => ({
    page: pageOfGroup[group] ?? `a page for the group ${group}`,
    words: [flag, key],
  }),
);

const ofFile = Object.entries(fileSettings)
  .filter(([level]) => level !== 'relay' && level !== 'texts')
  .flatMap(([level, rows]) =>
    rows
      .filter((row) => !('flag' in row))
      .map(({ key }): Entry => ({ page: pageOfLevel[level] ?? `a page for ${level}`, words: [key] })),
  );

function metricNames(): string[] {
  const registry = new Registry();
  const makers = createMetricFactories(registry, () => ({ callsInFlight: 0, ready: true, providers: [] }));
  createRelayMetrics(makers);
  createMemoryMetrics(makers);
  return registry.getMetricsAsArray().map(({ name }) => name);
}

const { endpoints: promised = [], 'actions in the log': actions = [] } = presentLists();
const ofDoors = [...Object.values(doorPaths), pathOfAnswer('<resource>'), doorStartPath('<provider>', '<resource>')];

const entries: Readonly<Record<string, readonly Entry[]>> = {
  option: ofOptions,
  'key of the file': ofFile,
  endpoint: [...promised, ...ofDoors].map((path) => ({ page: 'docs/http-api.md', words: [path] })),
  'action of an endpoint': actions.map((action) => ({ page: 'docs/http-api.md', words: [action] })),
  metric: metricNames().map((name) => ({ page: 'docs/operations.md', words: [name] })),
  outcome: failureCodes.map((code) => ({ page: 'docs/operations.md', words: [code] })),
};

/** The parts of a page that are code: in backticks, or in a block. */
const codeIn = (page: string): string =>
  [...readFileSync(new URL(page, root), 'utf8').matchAll(/^ *```.*?^ *```$|`[^`]+`/gms)].join('\n');

/** Whether code has a word that is not a part of a longer word. */
function hasWord(code: string, word: string): boolean {
  const literal = word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w/.-])${literal}(?![\\w/.-])`).test(code);
}

describe('the documents', () => {
  for (const [kind, all] of Object.entries(entries)) {
    it(`have a word on each ${kind}`, () => {
      expect(all).not.to.deep.equal([]);
      const missing = all
        .filter(({ page, words }) => !page.endsWith('.md') || !words.some((word) => hasWord(codeIn(page), word)))
        .map(({ page, words: [word] }) => `${page} has no word on ${word}`);
      expect(missing).to.deep.equal([]);
    });
  }
});
