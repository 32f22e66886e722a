import type { RequestListener } from 'node:http';
import { type BuildOptions, build } from 'esbuild';
import { canary } from '../../../harness/expect/canaries.ts';
import {
  type CertifiedProvider,
  startCertifiedProvider,
} from '../../../harness/provider/certified-provider.ts';
import { serve } from '../../../harness/provider/serve.ts';
import type { Flags } from '../../../harness/relay/relay-process.ts';
import { type Relay, secretFile, useRelays } from '../../../harness/relay/relay-under-test.ts';
import { freePort } from '../../../harness/system/free-port.ts';
import { startedOnce } from '../../../harness/system/started-once.ts';

/** A front end, a relay, and a provider that takes each refresh token once. */
export interface Site {
  readonly frontEnd: string;
  readonly relayUrl: string;
  readonly relay: Relay;
  readonly provider: CertifiedProvider;
}

export interface SiteOptions {
  /** Whether front end and relay are one site in a browser's eyes. */
  readonly isShared?: boolean;
  /** The front end, for a relay at this address. */
  readonly pages: (relayUrl: string) => RequestListener | Promise<RequestListener>;
  readonly flags?: Flags | (() => Flags);
  /** Puts several relays behind a balancer on this port. Default: there is one relay. */
  readonly balance?: (
    port: number,
    relays: readonly number[],
  ) => Promise<{ close(): Promise<void> }>;
}

/** One site for the `describe` that this is called in. */
export function useSite({ isShared, pages, flags, balance }: SiteOptions): () => Site {
  const startRelay = useRelays();
  const hostOf = (name: string) => (isShared ? 'localhost' : `${name}.localhost`);
  const servings: { close(): Promise<void> }[] = [];

  const start = async (): Promise<Site> => {
    const port = await freePort();
    const relayUrl = `http://${hostOf('relay')}:${port}`;
    const redirectUri = `${relayUrl}/auth/provider/callback`;
    const client = { clientId: 'client-1', clientSecret: canary('secret'), redirectUri };
    const provider = await startCertifiedProvider({ client, refreshes: true });
    const served = await serve(await pages(relayUrl));
    servings.push(provider, served);
    const frontEnd = `http://${hostOf('front-end')}:${served.port}`;
    const keyFile = await secretFile('the-key-of-these-tests-and-no-others');
    const settings = {
      client,
      flags: {
        port: balance ? '0' : `${port}`,
        origin: frontEnd,
        'base-url': relayUrl,
        issuer: provider.issuer,
        // Without it, there is no refresh token (OpenID Connect Core §11).
        'authorize-params': 'prompt=consent',
        'key-file': keyFile,
        ...(typeof flags === 'function' ? flags() : flags),
      },
    };
    const relay = await startRelay(settings);
    if (balance) {
      const others = await Promise.all([startRelay(settings), startRelay(settings)]);
      servings.push(
        await balance(
          port,
          [relay, ...others].map((one) => one.port),
        ),
      );
    }
    return { frontEnd, relayUrl, relay, provider };
  };
  const stop = () => Promise.all(servings.map((serving) => serving.close()));
  return startedOnce('the provider, the relay and the front end', start, stop);
}

/** Answers with a page's files, by their paths. */
export function sendFrom(files: ReadonlyMap<string, string>): RequestListener {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    const file = files.get(pathname);
    const type = pathname === '/' ? 'html' : 'javascript';
    response.writeHead(file === undefined ? 404 : 200, {
      'Content-Type': `text/${type}; charset=utf-8`,
    });
    response.end(file);
  };
}

/** Bundles a script for the browser. `relay` in it is the relay's address. */
export async function bundle(
  script: Pick<BuildOptions, 'entryPoints' | 'stdin'>,
  relay: string,
): Promise<string> {
  const { outputFiles } = await build({
    ...script,
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    define: {
      relay: JSON.stringify(relay),
      // In production, StrictMode does nothing.
      'process.env.NODE_ENV': '"development"',
    },
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}
