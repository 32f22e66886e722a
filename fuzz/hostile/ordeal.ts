import { Agent } from 'node:http';
import { RelayError } from '../../src/errors.ts';
import { DiscoveryError } from '../../src/oauth/metadata.ts';
import { createUpstreamClient } from '../../src/upstream/client.ts';
import { discoverProvider } from '../../src/upstream/discovery.ts';
import { call } from './call.ts';
import { endpointCall } from './endpoint-call.ts';
import type { HostileProvider } from './hostile-provider.ts';
import { faultOf, type Targets } from './rules.ts';
import { sessionCall } from './session-call.ts';

/** The settings of a run of hostile answers. */
export interface Ordeal {
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

/** The results of the run. */
export interface OrdealReport {
  /** The count of each outcome by endpoint. */
  readonly ends: Map<string, number>;
  readonly faults: string[];
}

// Much longer than the deadline of a call to the provider.
const hang = 60_000;

/** Makes a relay and discovery call a hostile provider until it has given that many answers. */
export async function endure(plan: Ordeal): Promise<OrdealReport> {
  const report: OrdealReport = { ends: new Map(), faults: [] };
  const agent = new Agent({ keepAlive: true });
  const client = createUpstreamClient('login-relay/fuzz', {
    timeout: 1_000,
    concurrentCalls: plan.calls,
  });
  let number = plan.first ?? 0;
  const endurance = async () => {
    while (plan.provider.answers < plan.answers) {
      number += 1;
      const [name, end] = await within(number, () => {
        const kind = number % 8;
        if (kind === 0) return token(plan, number, agent);
        if (kind === 1) return user(plan, number, agent);
        if (kind === 2) return metadata(plan.provider.origin, number, client);
        if (kind > 5) return sessionCall(plan, number, agent);
        return endpointCall(plan, number, agent);
      });
      count(report, `${name} ${end}`);
    }
  };
  const within = async (of: number, task: () => Promise<readonly [string, string]>) => {
    const ends = task();
    const timer = setTimeout(() => report.faults.push(`call ${of}: a hang`), hang);
    try {
      const [name, end] = await ends;
      if (end.startsWith('fault: ')) report.faults.push(`call ${of}: ${name}, ${end}`);
      return [name, end] as const;
    } finally {
      clearTimeout(timer);
    }
  };
  await Promise.all(Array.from({ length: plan.calls }, endurance));
  agent.destroy();
  client.close();
  return report;
}

function count({ ends }: OrdealReport, end: string): void {
  const short = end.slice(0, 60);
  ends.set(short, (ends.get(short) ?? 0) + 1);
}

async function token({ port, targets }: Ordeal, number: number, agent: Agent) {
  const path = `/auth/provider/callback?code=hostile-${number}`;
  const answer = await call(port, path, {}, agent);
  const permitted = [307, 400, 502, 504].includes(answer.status);
  const fault = faultOf(answer, targets) ?? (permitted ? undefined : `status ${answer.status}`);
  return ['token', fault === undefined ? String(answer.status) : `fault: ${fault}`] as const;
}

async function user({ port, targets }: Ordeal, number: number, agent: Agent) {
  const headers = { Authorization: `Bearer hostile-${number}` };
  const answer = await call(port, '/api/user', headers, agent);
  const permitted = [200, 401, 502, 504].includes(answer.status);
  const fault =
    answer.status === 200
      ? faultOfRecord(answer.body)
      : (faultOf(answer, targets) ?? (permitted ? undefined : `status ${answer.status}`));
  return ['user', fault === undefined ? String(answer.status) : `fault: ${fault}`] as const;
}

function faultOfRecord(body: string): string | undefined {
  const value: unknown = JSON.parse(Buffer.from(body, 'latin1').toString());
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? undefined : 'a record that is none';
}

async function metadata(
  origin: string,
  number: number,
  client: ReturnType<typeof createUpstreamClient>,
) {
  const issuer = `${origin}/${number}`;
  try {
    const provider = await discoverProvider(client, {
      issuer,
      given: {},
      insecureHttp: false,
      encodingChanges: false,
    });
    const urls = [provider.authorizeUrl, provider.tokenUrl, provider.userUrl];
    const safe = urls.every((url) => /^(https:\/\/|http:\/\/127\.)/.test(url));
    const end = safe && provider.issuer === issuer ? 'learned' : `fault: ${urls}`;
    return ['metadata', end] as const;
  } catch (error) {
    if (error instanceof DiscoveryError) return ['metadata', error.reason] as const;
    const fault = error instanceof RelayError ? error.code : String(error);
    return ['metadata', `fault: ${fault}`] as const;
  }
}
