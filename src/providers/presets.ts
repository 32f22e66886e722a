import { identityServers } from './identity-servers.ts';
import { onlineServices } from './online-services.ts';
import type { Preset } from './provider.ts';
import { sourceCodeHosts } from './source-code-hosts.ts';

/** The presets, in the order in which they are listed. */
export const presets: readonly Preset[] = [...sourceCodeHosts, ...onlineServices, ...identityServers];
