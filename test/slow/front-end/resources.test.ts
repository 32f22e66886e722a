import { expect } from 'chai';
import { needsChromium, useBrowser } from '../../harness/browser/chromium.ts';
import { documented, resourceConfigs } from '../../harness/project/shipped-pages.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { needsPrograms } from '../../harness/system/needs.ts';
import { Workspace } from '../../harness/system/workspace.ts';
import { Balancer } from '../deploy/support/balancer.ts';
import { guards } from '../deploy/support/kinds.ts';
import { shows, startLogIn } from './support/client-page.ts';
import { useSite } from './support/site.ts';

const { describe } = needsChromium();
const { it } = needsPrograms('caddy', 'python3');

describe('a page and its API in Python behind Caddy, as docs/resources.md shows them, in Chromium', () => {
  const openPage = useBrowser();
  const api = 'http://notes.localhost';
  let workspace: Workspace;
  let caddy: Balancer;
  const here = (text: string) => text.replaceAll('https://notes.example.com', `${api}:${caddy.port}`);

  /** The API, and Caddy in front. */
  async function startApi(relay: string): Promise<void> {
    workspace = await Workspace.create();
    const port = await freePort();
    const program = documented('api.py', relay, 'resources').replace('9000', `${port}`);
    const listens = { host: '127.0.0.1', port };
    await workspace.serve('python3', [await workspace.write('api.py', program)], listens);
    const kind = guards(() => port)['caddy'] ?? expect.fail('there is no Caddy');
    caddy = await Balancer.start(kind, [Number(new URL(relay).port)]);
  }
  after(async () => {
    await caddy?.stop();
    await workspace?.close();
  });

  const site = useSite({
    pages: async (relay) => {
      await startApi(relay);
      return { '/': here(documented('page.html', relay, 'resources')) };
    },
    frontEnds(production) {
      const [, settings = ''] = resourceConfigs()[1]?.split(/(?=^resources:)/m) ?? [];
      return `key-file: ./key\n${here(settings.replace('https://app.example.com', production))}`;
    },
  });

  it('shows the person only their own data at the API', async () => {
    const tab = await openPage();
    await tab.goto(site().frontEnd);
    await shows(tab, 'You are not logged in.');
    await startLogIn(tab, 'ada');
    await shows(tab, 'The notes of ada');
    await tab.reload();
    await shows(tab, 'The notes of ada');
    const stranger = await tab.request.get(`http://127.0.0.1:${caddy.port}/`);
    expect(stranger.status()).to.equal(401);
  });
});
