import { cmsBackendOf, registrationAtCmsPath } from '../config/cms-backend.ts';
import type { Config, FrontEndConfig, RegistrationConfig } from '../config/config.ts';
import { type Finding, warning } from './finding.ts';

/** What the `config.yml` of a CMS needs to log in. */
export interface CmsConfig {
  readonly frontEnd: string;
  readonly registration: string;
  /** The lines of `backend:`, in YAML. */
  readonly backend: string;
}

/** The lines for each front end that is a CMS, at each registration that it may use. */
export function cmsConfigs(config: Config): CmsConfig[] {
  return config.frontEnds
    .filter(({ tokenDelivery }) => tokenDelivery === 'cms')
    .flatMap((frontEnd) =>
      config.registrations
        .filter(({ name }) => frontEnd.registrations.includes(name))
        .map((registration) => ({
          frontEnd: frontEnd.name,
          registration: registration.name,
          backend: backendLines(config, registration, frontEnd),
        })),
    );
}

/** Warns of a path in the base URL, which CMSes cannot have in their `base_url`. */
export function checkCmsBaseUrl({ baseUrl, frontEnds }: Config): Finding[] {
  const hasCms = frontEnds.some(({ tokenDelivery }) => tokenDelivery === 'cms');
  if (!hasCms || new URL(baseUrl).pathname === '/') return [];
  return [
    warning(
      'CMS',
      'the base URL has a path: a CMS with this path in its base_url never answers its popup',
      'copy base_url and auth_endpoint from the lines above',
    ),
  ];
}

function backendLines(
  config: Config,
  registration: RegistrationConfig,
  frontEnd: FrontEndConfig,
): string {
  const backend = cmsBackendOf(registration);
  // The CMS compares it with the origin of the popup's messages, so a path would not fit.
  const { origin, pathname } = new URL(config.baseUrl);
  const path = pathname.replace(/^\/|\/$/g, '');
  const isDefault = path === '' && isAtCmsPath(config, registration, frontEnd, backend?.name);
  const own = `${path && `${path}/`}auth/${registration.name}/${frontEnd.name}`;
  const apiRoot = apiRootOf(registration);
  const lines: readonly (readonly [key: string, value: string] | undefined)[] = [
    ['name', backend?.name ?? ''],
    ['repo', 'owner/repository'],
    ['branch', 'main'],
    ['base_url', origin],
    isDefault ? undefined : ['auth_endpoint', own],
    apiRoot === backend?.apiRoot ? undefined : ['api_root', apiRoot],
  ];
  const given = lines.filter((line) => line !== undefined);
  return ['backend:', ...given.map(([key, value]) => `  ${key}: ${value}`), ''].join('\n');
}

/** Whether the CMS gets this login without an `auth_endpoint`, at `/auth`. */
function isAtCmsPath(
  { registrations, frontEnds }: Config,
  registration: RegistrationConfig,
  frontEnd: FrontEndConfig,
  backend: string | undefined,
): boolean {
  const withCms = registrations.flatMap((one) => {
    const first = frontEnds.find(
      (cms) => cms.tokenDelivery === 'cms' && cms.registrations.includes(one.name),
    );
    return first ? [{ name: one.name, backend: cmsBackendOf(one)?.name, first }] : [];
  });
  const served = registrationAtCmsPath(withCms, backend);
  return served?.name === registration.name && served.first === frontEnd;
}

/** The root of the provider's API, below which its user lookup is. */
function apiRootOf({ provider }: RegistrationConfig): string {
  return 'known' in provider ? provider.known.userUrl.replace(/\/user$/, '') : '';
}
