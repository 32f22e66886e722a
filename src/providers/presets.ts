import { auth0 } from './auth0.ts';
import { bitbucket } from './bitbucket.ts';
import { discord } from './discord.ts';
import { entra } from './entra.ts';
import { codeberg, forgejo, gitea } from './gitea.ts';
import { github, githubEnterprise } from './github.ts';
import { gitlab } from './gitlab.ts';
import { google } from './google.ts';
import { keycloak } from './keycloak.ts';
import { linkedin } from './linkedin.ts';
import { okta } from './okta.ts';
import type { Preset } from './provider.ts';
import { slack } from './slack.ts';
import { twitch } from './twitch.ts';

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
