import { granted } from '../../harness/browser/fake-browser.ts';
import { json, redirect } from '../../harness/provider/provider-behaviours.ts';
import { ada, DoorRelay } from './door-relay.ts';

/** Starts a relay for a real browser, in front of an application at this port. The provider lets ada in at once. */
export async function startWikiSite(applicationPort: number): Promise<{ relay: DoorRelay; wiki: string }> {
  const relay = await DoorRelay.listen();
  const { provider } = relay;
  const wiki = `http://wiki.localhost:${relay.port}`;
  await relay.restart({
    here: true,
    relay: `resources:\n  wiki: { url: '${wiki}/', upstream: 'http://127.0.0.1:${applicationPort}/', browser: true }\n`,
    frontEnds: '  app: { origin: https://app.example, token-delivery: code, resources: [wiki] }\n',
  });
  provider.knows(json(ada));
  provider.pages = {
    [new URL(provider.authorizeUrl).pathname]: (response, { url }) => redirect(granted(provider, url))(response),
  };
  return { relay, wiki };
}
