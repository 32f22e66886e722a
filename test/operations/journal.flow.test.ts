import { expect } from 'chai';
import { send } from '../harness/client/http-client.ts';
import { StrictProvider } from '../harness/provider/strict-provider.ts';
import { RelayProcess, runRelay } from '../harness/relay/relay-process.ts';
import { callbackPath, flagsFor, registration, secretFile } from '../harness/relay/relay-under-test.ts';

/** A command that starts another command as systemd does, with this descriptor for the journal. */
function journalOn(descriptor: 1 | 2): string[] {
  const script = `JOURNAL_STREAM=$(stat -L -c %d:%i /proc/$$/fd/${descriptor}) exec "$0" "$@"`;
  return ['sh', '-c', script];
}

describe('the journal of systemd', () => {
  let provider: StrictProvider;
  before(async () => {
    provider = await StrictProvider.start(registration());
  });
  after(() => provider.stop());

  /** The output of the relay after a refused and an unknown request. */
  async function logOf(launcher: string[], format: string, env = {}): Promise<string> {
    const file = await secretFile(provider.registration.clientSecret);
    const flags = { ...flagsFor(provider, file), 'log-format': format };
    const relay = new RelayProcess({ launcher, flags, env });
    const port = await relay.output((text) => /127\.0\.0\.1:(\d+)/.exec(text)?.[1]);
    await send(Number(port), { path: `${callbackPath}?error=access_denied` });
    await send(Number(port), { path: '/unknown' });
    await relay.output((text) => (text.includes('not_found') ? true : undefined));
    return (await relay.stop()).stdout;
  }

  const priorityOf = (log: string, part: string) =>
    /^(<\d>)?/.exec(log.split('\n').find((line) => line.includes(part)) ?? '')?.[0];

  for (const format of ['json', 'pretty']) {
    it(`gets the priority of every line, in ${format}`, async () => {
      const log = await logOf(journalOn(1), format);
      for (const line of log.trimEnd().split('\n')) expect(line).to.match(/^<[2-7]>./);
      expect(priorityOf(log, 'listening')).to.equal('<6>');
      expect(priorityOf(log, 'access_denied')).to.equal('<4>');
      expect(priorityOf(log, 'not_found')).to.equal('<6>');
    });
  }

  it('gets the faults of the configuration as errors', async () => {
    const { code, stderr } = await runRelay({ launcher: journalOn(2) });
    expect(code).to.equal(2);
    expect(stderr).to.contain('--origin');
    for (const line of stderr.trimEnd().split('\n')) expect(line).to.match(/^<3>./);
  });

  it('gets no priorities if JOURNAL_STREAM names another descriptor', async () => {
    const { stderr } = await runRelay({ launcher: journalOn(1) });
    expect(stderr).to.match(/^login-relay cannot start/);
    const log = await logOf([], 'json', { JOURNAL_STREAM: '8:12345' });
    for (const line of log.trimEnd().split('\n')) expect(line).to.match(/^\{/);
  });
});
