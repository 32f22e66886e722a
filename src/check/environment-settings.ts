import type { OptionSources } from '../config/option-values.ts';
import type { EffectiveOption } from './effective-options.ts';

/** The settings that have no flag: the usual variables for outbound calls. */
export function environmentSettings(environment: OptionSources['environment']): EffectiveOption[] {
  return ['HTTPS_PROXY', 'NO_PROXY', 'NODE_EXTRA_CA_CERTS'].map((variable) => {
    const lowerCase = variable.endsWith('_PROXY') ? environment[variable.toLowerCase()] : undefined;
    const raw = environment[variable] || lowerCase;
    if (!raw) return { flag: null, variable, value: null, source: 'none' };
    const value = variable === 'HTTPS_PROXY' ? withoutPassword(raw) : raw;
    return { flag: null, variable, value, source: 'environment' };
  });
}

function withoutPassword(proxy: string): string | null {
  const url = URL.parse(proxy);
  if (url === null || url.host === '') return null;
  const credentials = url.username === '' && url.password === '' ? '' : '[secret]@';
  return `${url.protocol}//${credentials}${url.host}`;
}
