import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

/** Runs a program of this folder. Returns its output by name. */
async function run(program: string, ...options: string[]): Promise<Record<string, string>> {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [file, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const said = await text(child.stdout);
  const [code] = await ended;
  expect(code, said).to.equal(0);
  return Object.fromEntries(
    said
      .trimEnd()
      .split('\n')
      .map((line) => line.split(': ')),
  );
}

describe('a short run of', () => {
  it('the soak finds the injected faults, and no others', async function () {
    this.timeout(120_000);
    const directory = await mkdtemp(join(tmpdir(), 'login-relay-'));
    try {
      const options = ['--lookups', '2000', '--logins', '200'];
      const said = await run('soak.ts', ...options, '--report', directory);
      expect(said).to.include({
        lookups: '2000',
        logins: '200',
        'faults injected': '110',
        'failures that were not injected': '0',
      });
      expect(await readFile(join(directory, 'soak.svg'), 'utf8')).to.match(/^<svg .*<\/svg>\n$/s);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('the cross-talk finds only correct answers', async function () {
    this.timeout(120_000);
    const said = await run('cross-talk.ts', '--replies', '4000');
    expect(said['mismatches']).to.equal('0');
    expect(Number(said['replies'])).to.be.at.least(4000);
    expect(Number(said['answers that nobody had asked for'])).to.be.at.least(100);
  });
});
