import { identityServers } from './identity-servers.ts';
import { onlineServices } from './online-services.ts';
import type { Preset } from './provider.ts';
import { sourceCodeHosts } from './source-code-hosts.ts';

/** Every preset that `--provider` can name, in the order in which they are listed. */
export const presets: readonly Preset[] = [...sourceCodeHosts, ...onlineServices, ...identityServers];
