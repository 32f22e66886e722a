import { readFileSync } from 'node:fs';
import { version } from '../../../src/version.ts';

/** A row of the table of endpoints in docs/http-api.md. */
export interface DocumentedEndpoint {
  readonly addresses: readonly string[];
  /** A method that it accepts. */
  readonly method: string;
  /** Whether the rate limit counts its requests. */
  readonly isLimited: boolean;
}

const page = new URL('../../../docs/http-api.md', import.meta.url);
const head = '| endpoint | methods | action | rate limit | purpose |\n|---|---|---|---|---|\n';

/**
 * The table of endpoints in docs/http-api.md, as a relay has it.
 *
 * @param examples the names of a `provider`, a `front end` and a `resource`; and for what is no whole path in the table,
 *   such as the `url` of a resource, an address
 */
export function documentedEndpoints(examples: Readonly<Record<string, string>>): readonly DocumentedEndpoint[] {
  const [, table = ''] = readFileSync(page, 'utf8').split(head);
  const rows = table.split('\n\n')[0]?.split('\n') ?? [];
  const values: typeof examples = { version, ...examples };
  const addressOf = (code: string) =>
    values[code] ?? code.replaceAll(/<(.+?)>/g, (placeholder, name) => values[name] ?? placeholder);
  return rows.map((row) => {
    const [, endpoint = '', methods = '', , rateLimit] = row.split(/ ?\| ?/);
    const codes = [...endpoint.matchAll(/`(.+?)`/g)].map(([, code = '']) => code);
    return {
      addresses: codes.filter((code) => code.startsWith('/') || code in values).map(addressOf),
      method: /^[A-Z]+/.exec(methods)?.[0] ?? 'GET',
      isLimited: rateLimit === 'yes',
    };
  });
}
