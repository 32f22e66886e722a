import type { Placeholder, Preset } from '../../providers/provider.ts';

/** `login-relay providers`: formats the presets in aligned columns, and says how to use any other provider. */
export function formatProviders(presets: readonly Preset[]): string {
  const rows = [['name', 'provider', 'needs', 'scope'], ...presets.map(formatRow)];
  const lines = rows.map((cells) => {
    const padded = cells.map((cell, column) => cell.padEnd(widthOfColumn(rows, column)));
    return padded.join('  ').trimEnd();
  });
  return [
    ...lines,
    '',
    'Needs: host is --provider-host, tenant is --provider-tenant; (…) is the default.',
    'Any other provider: --issuer <url> (metadata), or its three endpoints by hand.',
    '',
  ].join('\n');
}

const widthOfColumn = (rows: readonly string[][], column: number) =>
  Math.max(...rows.map((cells) => cells[column]?.length ?? 0));

function formatRow({ name, title, host, tenant, provider: { scope } }: Preset): string[] {
  const needs = [...formatNeed('host', host), ...formatNeed('tenant', tenant)].join(', ');
  return [name, title, needs || 'nothing', scope ?? 'none'];
}

/** Says that a preset needs a part of its URLs, with the default if there is one; empty if it does not. */
function formatNeed(part: string, placeholder: Placeholder | undefined): string[] {
  if (placeholder === undefined) return [];
  return [placeholder.default === undefined ? part : `${part} (${placeholder.default})`];
}
