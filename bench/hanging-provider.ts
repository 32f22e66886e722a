// A provider that hangs for 30 s under a relay: what becomes of those who need no provider, of those
// who do, and of the relay's memory. Ends with 1 where that is worse than promised.
import { measure } from './hanging-provider/measure.ts';

const executable = process.env['LOGIN_RELAY'];
const command = executable
  ? ([executable] as const)
  : ([process.execPath, 'bin/login-relay.ts'] as const);
const report = await measure(command, {
  warmUp: 10,
  idle: 15,
  hang: 30,
  recovery: 5,
  providerTimeout: 10,
});
const { memory } = report;
const promises: Readonly<Record<string, boolean>> = {
  'start login is at most 10 times as slow, p99': report.hanging.p99 < 10 * report.idle.p99,
  'every start and health check is answered': !Object.keys(report.statuses).some(
    (name) => /^(start|health) /.test(name) && !/ (200|307)$/.test(name),
  ),
  'further calls are refused at once': report.refused.p99 < 10 * report.idle.p99,
  'memory stays flat': memory.second < memory.first * 1.1,
  'it recovers within a second': report.firstAnswer < 1000 && report.lastFailure < 1000,
};
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
for (const [promise, isKept] of Object.entries(promises)) {
  process.stdout.write(`${isKept ? 'yes' : 'NO '}  ${promise}\n`);
  if (!isKept) process.exitCode = 1;
}
