import { expect } from 'chai';
import { describeApplication, programOf } from './support/applications.ts';

const name = 'ada';
const password = 'own password';
const tarball = Buffer.alloc(2_000_000, 7);

/** Publishes a package as npm does, at the application itself. */
async function publish(registry: string): Promise<void> {
  const put = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(registry + path, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    expect(answer.status, path).to.equal(201);
    return Object(await answer.json());
  };
  const user = { name, password, _id: `org.couchdb.user:${name}`, type: 'user', roles: [] };
  const { token } = await put(`/-/user/org.couchdb.user:${name}`, user);
  const file = 'notes-1.0.0.tgz';
  await put(
    '/notes',
    {
      _id: 'notes',
      name: 'notes',
      'dist-tags': { latest: '1.0.0' },
      versions: {
        '1.0.0': {
          name: 'notes',
          version: '1.0.0',
          description: 'Words of Ada',
          readme: '# Words',
          dist: { tarball: `${registry}/notes/-/${file}` },
        },
      },
      _attachments: {
        [file]: { content_type: 'application/octet-stream', data: tarball.toString('base64'), length: tarball.length },
      },
    },
    { Authorization: `Bearer ${token}` },
  );
}

describeApplication(
  {
    name: 'verdaccio',
    async start({ workspace, port }) {
      const settings = `storage: ${workspace.path('storage')}
auth: { htpasswd: { file: ${workspace.path('htpasswd')} } }
packages: { '**': { access: $all, publish: $authenticated } }
log: { type: stdout, format: json, level: warn }
`;
      const words = [
        programOf('verdaccio/bin/verdaccio'),
        '--config',
        await workspace.write('config.yaml', settings),
        '--listen',
        `127.0.0.1:${port}`,
      ];
      await workspace.serve(process.execPath, words, { host: '127.0.0.1', port });
      await publish(`http://127.0.0.1:${port}`);
    },
  },
  {
    async 'shows a package, to which no login of its own is needed'({ page, place, picture }) {
      await page.getByText('Words of Ada').waitFor();
      await picture('list');
      await page.getByText('notes', { exact: true }).first().click();
      await page.getByRole('heading', { name: 'Words' }).waitFor();
      await picture('package');
      await page.reload();
      await page.getByRole('heading', { name: 'Words' }).waitFor();
      expect(page.url()).to.include(place.address);
    },
  },
);
