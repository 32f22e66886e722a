import { expect } from 'chai';
import { describeApplication } from './support/applications.ts';

describeApplication(
  {
    name: 'prometheus',
    programs: ['prometheus'],
    async start({ workspace, port }) {
      const settings = `global: { scrape_interval: 1s }
scrape_configs: [{ job_name: itself, static_configs: [{ targets: ['127.0.0.1:${port}'] }] }]
`;
      const file = await workspace.write('prometheus.yml', settings);
      const words = [`--config.file=${file}`, `--storage.tsdb.path=${workspace.path('data')}`];
      const listens = `--web.listen-address=127.0.0.1:${port}`;
      await workspace.serve('prometheus', [...words, listens], { host: '127.0.0.1', port });
    },
  },
  {
    async 'answers queries, and shows its state'({ page, place, picture }) {
      // Debian has only the classic pages.
      await page.locator('textarea').fill('vector(42)');
      await page.locator('[value=Execute]').click();
      await page.locator('td', { hasText: '42' }).waitFor();
      expect(page.url()).to.include('vector(42)');
      await picture('query');
      await page.goto(`${place.address}/classic/status`);
      await page.getByRole('heading', { name: 'Build Information' }).waitFor();
      await page.reload();
      await page.getByRole('heading', { name: 'Build Information' }).waitFor();
      expect(new URL(page.url()).pathname).to.equal('/classic/status');
    },
  },
  // Debian's package has other versions of two libraries.
  (complaint) => /Unexpected token 'export'|require Popper/.test(complaint),
);
