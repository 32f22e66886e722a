import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import packageJson from '../../../../package.json' with { type: 'json' };
import { projectRoot, run, runScript } from '../../../harness/project/run.ts';

const version = `${packageJson.version}-1`;
const throwawaySystem = `${projectRoot}/test/slow/release/support/throwaway-system.sh`;

/** The end of a command whose output does not matter. */
export const quietly = '>/dev/null 2>&1';
/** The command that installs the package in a temporary system. */
export const install = `dpkg --no-triggers -i /mnt/login-relay_${version}_amd64.deb ${quietly}`;
/** The command that enables the service there. */
export const enable = 'command -p env PATH=/usr/bin systemctl --root=/ enable login-relay 2>/dev/null';

/** The Debian package, built for a test. */
export class DebianPackage {
  readonly dist = mkdtempSync(join(tmpdir(), 'login-relay-debian-'));

  readonly #program: string;

  /** @param program in place of the binary: most tests check what surrounds it */
  constructor(program = '/bin/true') {
    this.#program = program;
    expect(run('scripts/share.sh', [join(this.dist, 'share')])).to.include({ code: 0, stderr: '' });
    writeFileSync(join(this.dist, 'THIRD-PARTY-LICENSES.txt'), runScript('third-party-licenses.ts'));
    this.build('amd64');
  }

  /** Builds it again. */
  build(architecture: string, env: Record<string, string> = {}): void {
    const args = [architecture, this.#program, this.dist];
    runScript('debian-package.ts', { args, env: { SOURCE_DATE_EPOCH: '1700000000', ...env } });
  }

  /** The path of the package. */
  file(architecture = 'amd64'): string {
    return join(this.dist, `login-relay_${version}_${architecture}.deb`);
  }

  /** The lines that commands print in a temporary system. The package is in `/mnt` there. */
  inThrowawaySystem(...commands: string[]): string[] {
    const { code, stdout, stderr } = run(throwawaySystem, [this.dist, commands.join('\n')]);
    expect(code, stdout + stderr).to.equal(0);
    return stdout.split('\n').slice(0, -1);
  }

  remove(): void {
    rmSync(this.dist, { recursive: true });
  }
}
