import { existsSync } from 'node:fs';
import { registration } from '../registration.ts';
import type { Contender } from './contender.ts';
import { cores } from './cores.ts';
import { PinnedProcess } from './pinned-process.ts';

/** A contender that says, as JSON on a line of its output, at which `address` it listens. */
export interface ServerDescription extends Pick<Contender, 'name' | 'kind' | 'workloads'> {
  readonly protection: boolean;
  readonly loginPath?: string;
  /** What has to be there for it to start. */
  readonly needs: string;
  /** The words that start it. @param providerUrl origin of the provider */
  command(providerUrl: string): readonly string[];
}

/** Makes a contender of a program. */
export function server({ needs, command, ...description }: ServerDescription): Contender {
  const { protection, loginPath = '/auth/provider' } = description;
  return {
    ...description,
    missing: () => (existsSync(needs) ? undefined : `there is no ${needs}`),
    async start(provider, distance) {
      const { port } = provider[distance];
      const origin = distance === 'near' ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;
      const running = new PinnedProcess(cores.server, command(origin), {
        PROVIDER_URL: origin,
        PROVIDER_CLIENT_SECRET: registration.clientSecret,
        ...(distance === 'distant' && { NODE_EXTRA_CA_CERTS: provider.authorityFile }),
      });
      const address = await running.ready(addressIn);
      return {
        target: {
          address: { port: Number(new URL(address).port) },
          loginPath,
          userPath: '/api/user',
          protection,
          provider: provider[distance],
        },
        pid: running.pid,
        stop: () => running.stop(),
      };
    },
  };
}

function addressIn(output: string): string | undefined {
  return /"address":"(http:[^"]+)"/.exec(output)?.[1];
}
