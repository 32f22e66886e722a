import { expect } from 'chai';
import { expectRedirect, expectUser } from '../expect/expectations.ts';
import { loginPath, userPath } from '../relay/relay-under-test.ts';
import { request } from './request.ts';

/**
 * Sends starts and lookups, one after the other on new connections, until `other` is over.
 *
 * @returns how well an honest client was served, as text
 */
export async function servedDuring({ port }: { readonly port: number }, other: Promise<unknown>): Promise<string> {
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
  const figures = `median ${quantile(0.5).toFixed(1)} ms, p99 ${quantile(0.99).toFixed(0)} ms`;
  return `${times.length} honest requests served, ${figures}`;
}
