import { expect } from 'chai';
import { expectRedirect, expectUser } from '../expect/expectations.ts';
import { loginPath, userPath } from '../relay/relay-under-test.ts';
import { request } from './request.ts';

/** The service to an honest client during a fault. */
interface Service {
  readonly served: number;
  /** Milliseconds. */
  readonly median: number;
  readonly p99: number;
}

/** Sends starts and lookups, one after the other on new connections, until `other` is over. */
export async function servedDuring(
  { port }: { readonly port: number },
  other: Promise<unknown>,
): Promise<Service> {
  let over = false;
  other.finally(() => {
    over = true;
  });
  const times: number[] = [];
  while (!over) {
    const start = performance.now();
    if (times.length % 2) expectRedirect(await request(port, { path: loginPath }));
    else {
      const token = `honest-${times.length}`;
      const headers: [string, string][] = [['Authorization', `Bearer ${token}`]];
      const answer = await request(port, { path: userPath, headers });
      expectUser(answer);
      expect(`${answer.body}`).to.contain(token);
    }
    times.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await other;
  expect(times).not.to.deep.equal([]);
  const sorted = times.toSorted((a, b) => a - b);
  const quantile = (part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
  return { served: times.length, median: quantile(0.5), p99: quantile(0.99) };
}

/** The service as text. */
export function described({ served, median, p99 }: Service): string {
  return `${served} honest requests served, median ${median.toFixed(1)} ms, p99 ${p99.toFixed(0)} ms`;
}
