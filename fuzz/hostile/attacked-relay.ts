import { listening, secretFile } from '../../test/harness/relay/relay-under-test.ts';
import { createCredentials } from './credentials.ts';
import { baseUrl, doorSecret, registrations, relayFile, stateKey } from './front-ends.ts';
import { statesOf } from './login-credentials.ts';
import { granted, hidden } from './markers.ts';
import type { Targets } from './rules.ts';

/** Texts that must not be in the log: marked secrets, and everything that the relay has sealed. */
const secrets = [hidden, granted, 'lr1_'];

/** A relay and its provider, and what an attacker must know about them. */
export type AttackedRelay = Awaited<ReturnType<typeof startAttackedRelay>>;

/**
 * Starts a relay that uses the provider. Both end together. `LOGIN_RELAY` names an executable to use instead
 * of the source.
 *
 * @param flags additional flags of the relay
 * @param settings additional settings of each front end
 * @param resources how many there are
 * @param machines front ends of their own
 */
export async function startAttackedRelay(
  provider: { readonly origin: string; close(): void },
  flags: Readonly<Record<string, string>> = {},
  settings: Readonly<Record<string, string>> = {},
  resources = 1,
  machines: Readonly<Record<string, object>> = {},
) {
  const { relay, port } = await listening({
    flags: {
      port: '0',
      'base-url': baseUrl,
      'key-file': await secretFile(stateKey),
      'log-format': 'json',
      'refresh-tokens': 'bearer',
      config: await secretFile(relayFile(provider.origin, await secretFile(doorSecret), settings, resources, machines)),
      ...flags,
    },
  });
  /** The count of each outcome in the log. */
  const outcomes = new Map<string, number>();
  /** What is wrong in the output of the process; after `close`, also with its end. */
  const faults: string[] = [];
  relay.passOn((line) => {
    if (secrets.some((secret) => line.includes(secret))) faults.push(`in the log: ${line}`);
    const read = readLogLine(line);
    if (read === undefined) {
      faults.push(`not a log line: ${line.slice(0, 200)}`);
      return;
    }
    const outcome = String(read['outcome'] ?? read['msg']);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (outcome === 'internal_error') faults.push(`unexpected error: ${String(read['stack'])}`);
  });
  const states = statesOf(provider.origin);
  const targets: Targets = {
    authorizationRequests: Object.entries(registrations).map(([name, clientId]) => {
      const redirectUri = `${baseUrl}/auth/${name}/callback`;
      const query = { response_type: 'code', client_id: clientId, redirect_uri: redirectUri };
      return `${provider.origin}/authorize?${new URLSearchParams(query)}`;
    }),
    providerOrigin: provider.origin,
    openState: (state) => states.provider.open(state) ?? states.house.open(state),
  };
  return {
    relay: { port, pid: relay.pid, outcomes, faults },
    targets,
    credentials: await createCredentials(provider.origin, states),
    async close() {
      const { code, signal, stderr } = await relay.stop();
      if (code !== 0) faults.push(`the relay ended with ${code ?? signal}`);
      if (stderr !== '') faults.push(`standard error: ${stderr.slice(0, 1000)}`);
      provider.close();
    },
  };
}

function readLogLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
