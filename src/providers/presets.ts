import {
  bitbucket,
  codeberg,
  forgejo,
  gitea,
  github,
  githubEnterprise,
  gitlab,
} from './code-hosts.ts';
import { auth0, keycloak, okta } from './identity-servers.ts';
import { discord, entra, google, linkedin, slack, twitch } from './platforms.ts';
import type { Preset } from './provider.ts';

/** Every preset that `--provider` can name, in the order in which they are listed. */
export const presets: readonly Preset[] = [
  github,
  githubEnterprise,
  gitlab,
  gitea,
  forgejo,
  codeberg,
  bitbucket,
  google,
  entra,
  discord,
  slack,
  twitch,
  linkedin,
  keycloak,
  auth0,
  okta,
];
