import { Agent } from 'node:http';
import { RelayError } from '../../src/failures/relay-error.ts';
import { DiscoveryError } from '../../src/oauth/metadata.ts';
import { createUpstreamClient } from '../../src/upstream/client.ts';
import { discoverProvider } from '../../src/upstream/discovery.ts';
import { hostileCall } from './calls.ts';
import type { HostileProvider } from './hostile-provider.ts';
import type { Targets } from './rules.ts';

/** The settings of a run of hostile answers. */
interface Plan {
  readonly port: number;
  readonly targets: Targets;
  readonly provider: HostileProvider;
  /** The number of hostile answers. */
  readonly answers: number;
  /** The number of calls in flight at a time. */
  readonly calls: number;
  /** The number of the first call. Number and seed of the provider determine the answer. */
  readonly first?: number;
}

// Much longer than the deadline of a call to the provider.
const hang = 60_000;

/**
 * Makes a relay and discovery call a hostile provider until it has given that many answers.
 *
 * @returns the count of each outcome by endpoint
 */
export async function takeHostileAnswers(plan: Plan): Promise<{ ends: Map<string, number>; faults: string[] }> {
  const ends = new Map<string, number>();
  const faults: string[] = [];
  const agent = new Agent({ keepAlive: true });
  const client = createUpstreamClient({ timeout: 1_000, concurrentCalls: plan.calls });
  let number = plan.first ?? 0;
  const call = async (own: number) => {
    const timer = setTimeout(() => faults.push(`call ${own}: a hang`), hang);
    try {
      const [name, end] = await (own % 8 === 0
        ? metadata(plan.provider.origin, own, client)
        : hostileCall(plan, own, agent));
      if (end.startsWith('fault: ')) faults.push(`call ${own}: ${name}, ${end}`);
      const short = `${name} ${end}`.slice(0, 60);
      ends.set(short, (ends.get(short) ?? 0) + 1);
    } finally {
      clearTimeout(timer);
    }
  };
  const endurance = async () => {
    while (plan.provider.answers < plan.answers) {
      number += 1;
      await call(number);
    }
  };
  await Promise.all(Array.from({ length: plan.calls }, endurance));
  agent.destroy();
  client.close();
  return { ends, faults };
}

async function metadata(origin: string, number: number, client: ReturnType<typeof createUpstreamClient>) {
  const issuer = `${origin}/${number}`;
  try {
    const source = { issuer, clientId: 'client-1', given: {}, insecureHttp: false, encodingChanges: false };
    const provider = await discoverProvider(client, source);
    const urls = [provider.authorizeUrl, provider.tokenUrl, provider.userUrl ?? ''];
    const safe = urls.every((url) => /^(https:\/\/|http:\/\/127\.)/.test(url));
    const end = safe && provider.issuer === issuer ? 'learned' : `fault: ${urls}`;
    return ['metadata', end] as const;
  } catch (error) {
    if (error instanceof DiscoveryError) return ['metadata', error.reason] as const;
    const fault = error instanceof RelayError ? error.code : String(error);
    return ['metadata', `fault: ${fault}`] as const;
  }
}
