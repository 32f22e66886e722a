import type { CmsBackend } from '../providers/provider.ts';
import type { ProviderSettings } from './provider-settings.ts';

/** How a CMS uses the provider of a registration. Undefined: no CMS can. */
export function cmsBackendOf({
  provider,
}: {
  readonly provider: ProviderSettings;
}): CmsBackend | undefined {
  return 'known' in provider ? provider.known.cms : undefined;
}
