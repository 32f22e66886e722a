import type { Placeholder, Preset } from '../../providers/provider.ts';

const heading = ['name', 'provider', 'needs', 'scope'];

/**
 * Lists presets as `login-relay providers` prints them: lines of aligned columns, and how to name
 * any other provider. Every line ends with a line break.
 */
export function providersTable(presets: readonly Preset[]): string {
  const rows = [heading, ...presets.map(row)];
  const widths = heading.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [
    ...lines,
    '',
    'Needs: host is --provider-host, tenant is --provider-tenant; (…) is the default.',
    'Any other provider: --issuer <url> (metadata), or its three endpoints by hand.',
    '',
  ].join('\n');
}

function row({ name, title, host, tenant, scope }: Preset): string[] {
  const needs = [...need('host', host), ...need('tenant', tenant)].join(', ');
  return [name, title, needs || 'nothing', scope ?? 'none'];
}

function need(part: string, placeholder: Placeholder | undefined): string[] {
  if (placeholder === undefined) return [];
  return [placeholder.default === undefined ? part : `${part} (${placeholder.default})`];
}
