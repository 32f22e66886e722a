import type { OptionSources } from './sources.ts';

const inspector = /--(inspect|debug[-_]port)/;

/** The faults of variables that Node itself reads. Each is one line that names the variable. */
export function runtimeFaults({
  NODE_TLS_REJECT_UNAUTHORIZED: checks,
  NODE_DEBUG: debug,
  NODE_OPTIONS: options = '',
}: OptionSources['environment']): string[] {
  const faults: string[] = [];
  if (checks === '0') {
    faults.push('NODE_TLS_REJECT_UNAUTHORIZED must not be 0: anyone could pose as the provider');
  }
  if (debug) {
    faults.push('NODE_DEBUG must not be set: Node would write requests with their secrets');
  }
  if (inspector.test(options)) {
    faults.push('NODE_OPTIONS must not contain --inspect: a debugger can read every secret');
  }
  return faults;
}
