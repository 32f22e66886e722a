import type { Config } from '../config/config.ts';
import { abbreviateInput, RelayError } from '../failures/relay-error.ts';
import type { Context } from '../http/context.ts';
import type { Doors } from '../resources/door.ts';

/** The most hosts that the log names for one request. */
const mostNamed = 20;

/** The host names of the login and of all resources. */
export function findHostnames({ baseUrl }: Pick<Config, 'baseUrl'>, resources: readonly Doors[]): ReadonlySet<string> {
  const urls = [baseUrl, ...resources.map(([{ resource }]) => resource.url)];
  return new Set(urls.map((url) => new URL(url).hostname));
}

/**
 * Creates the failure of a request to an unknown host. Only the log names the hosts, because strangers could otherwise
 * learn them by the address of the relay.
 */
export function createHostFailure(
  { trustedProxies, behindUnknownProxy }: Pick<Config, 'trustedProxies' | 'behindUnknownProxy'>,
  hostnames: ReadonlySet<string>,
): (ctx: Context) => RelayError {
  const { detail } = new RelayError('host_unknown');
  const isBehindProxy = trustedProxies.length > 0 || behindUnknownProxy;
  const known = [...hostnames].slice(0, mostNamed);
  return (ctx) =>
    new RelayError('host_unknown', {
      detail: isBehindProxy ? `${detail} Does a proxy change it?` : detail,
      asked: abbreviateInput(ctx.host),
      known,
    });
}
