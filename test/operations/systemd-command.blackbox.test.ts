import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { relayCommand, runRelay } from '../harness/relay/relay-process.ts';

async function printed(...flags: string[]): Promise<string> {
  const { code, stdout } = await runRelay({ words: ['systemd', ...flags] });
  expect(code).to.equal(0);
  return stdout;
}

async function deployed(path: string): Promise<string> {
  return await readFile(new URL(`../../deploy/${path}`, import.meta.url), 'utf8');
}

describe('login-relay systemd', () => {
  it('prints the unit of the service, with the path of this relay in it', async () => {
    const start = /(?<=^ExecStart=).*$/m;
    const unit = await printed();
    expect(unit.replace(start, '/usr/bin/login-relay')).to.equal(await deployed('systemd/login-relay.service'));
    const words = (start.exec(unit)?.[0] ?? '').split(' ');
    expect(words).to.deep.equal(relayCommand);
  });

  it('prints the unit of several relays, which takes the port from its name', async () => {
    const unit = await printed('--template');
    const [, command = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
    const [, program = ''] = /^ExecStart=(.*)$/m.exec(await printed()) ?? [];
    expect(command).to.equal(`${program} --port %i`);
    expect(unit.replace(program, '/usr/bin/login-relay')).to.equal(await deployed('systemd/login-relay@.service'));
  });

  it('prints the unit of the socket', async () => {
    expect(await printed('--socket')).to.equal(await deployed('systemd/login-relay.socket'));
  });

  it('prints a template of the configuration file', async () => {
    expect(await printed('--settings')).to.equal(await deployed('config.yaml'));
  });
});
