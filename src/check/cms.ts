import type { Config, RegistrationConfig } from '../config/config.ts';
import { registrationsOfFrontEnd } from '../config/relations.ts';
import { type Finding, findingsOn } from './finding.ts';

/** Formats the lines that each CMS needs in its `config.yml`, at each registration that it may use. */
export function formatCmsConfigs(config: Config) {
  return config.frontEnds
    .filter(({ tokenDelivery }) => tokenDelivery === 'cms')
    .flatMap((frontEnd) =>
      registrationsOfFrontEnd(config, frontEnd).map((registration) => ({
        frontEnd: frontEnd.name,
        registration: registration.name,
        backend: formatBackend(config.baseUrl, registration, frontEnd.name),
      })),
    );
}

/** Warns about a path in the base URL, which a CMS cannot have in its `base_url`. */
export function checkCmsBaseUrl({ baseUrl, frontEnds }: Config): Finding[] {
  const hasCms = frontEnds.some(({ tokenDelivery }) => tokenDelivery === 'cms');
  if (!hasCms || new URL(baseUrl).pathname === '/') return [];
  return [
    findingsOn('CMS').warning(
      'the base URL has a path: a CMS with this path in its base_url never answers its popup',
      'copy base_url and auth_endpoint from the lines above',
    ),
  ];
}

/** Formats the `backend` of a CMS, which logs in at a front end of a registration. */
function formatBackend(baseUrl: string, { paths, provider }: RegistrationConfig, frontEnd: string) {
  const backend = 'known' in provider ? provider.known.cms : undefined;
  // The CMS compares base_url with the origin of the popup's messages, so it must not have a path.
  const { origin, pathname } = new URL(baseUrl);
  const path = pathname.replace(/^\/|\/$/g, '');
  // The user lookup is directly below the root of the provider's API.
  const apiRoot = 'known' in provider ? (provider.known.userUrl ?? '').replace(/\/user$/, '') : '';
  // With a preset, this is the path whose callback URL the documentation says to register.
  const word = paths.at(-1)?.word;
  const lines = [
    `name: ${backend?.name}`,
    'repo: owner/repository',
    'branch: main',
    `base_url: ${origin}`,
    // Sveltia CMS needs this line at GitLab. With both names, it stays right if the relay gets a second CMS.
    `auth_endpoint: ${path && `${path}/`}auth/${word}/${frontEnd}`,
  ];
  if (apiRoot !== backend?.apiRoot) lines.push(`api_root: ${apiRoot}`);
  return ['backend:', ...lines.map((line) => `  ${line}`), ''].join('\n');
}
