import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Page, Response } from 'playwright-core';
import { expectUser } from '../../harness/expect/expectations.ts';
import type { Rig } from './rig.ts';
import { createWorld, type World } from './world.ts';

/** Logs in at the server, and also tests failing logins. */
export function describeLogins(
  rig: Rig,
  world: () => World,
  openPage: () => Promise<Page>,
  clientSecret: string,
): void {
  it('logs a person in, and looks up their record', async () => {
    const token = await tokenOf(await openPage(), world());
    const headers: [string, string][] = [['Authorization', `Bearer ${token}`]];
    expect(expectUser(await world().send({ path: '/api/user', headers }))).to.include(rig.user);
  });

  it('reports a refused consent as cancelled', async () => {
    const callback = await end(await openPage(), world(), world().server.refuse);
    expect(await outcomeOf(callback, world())).to.equal('access_denied');
  });

  it('reports an expired code as refused', async () => {
    const shortLived = await createWorld(rig, clientSecret, { codeSeconds: 1 });
    try {
      const callback = await end(await openPage(), shortLived, async (page) => {
        const opened = page.waitForRequest(startingWith(shortLived.callbackUrl));
        // The callback is delayed until the code has expired.
        process.kill(shortLived.relay.pid, 'SIGSTOP');
        const allowed = shortLived.server.allow(page);
        await Promise.race([opened, allowed]);
        await delay(3000);
        process.kill(shortLived.relay.pid, 'SIGCONT');
        await allowed;
      });
      expect(await outcomeOf(callback, shortLived)).to.equal('code_refused');
    } finally {
      process.kill(shortLived.relay.pid, 'SIGCONT');
      await shortLived.close();
    }
  });
}

/** Logs in, and returns the token that the front end gets. */
async function tokenOf(page: Page, world: World): Promise<string> {
  await end(page, world, world.server.allow);
  await page.waitForLoadState();
  expect(page.url(), await page.content()).to.match(startingWith(world.frontEnd));
  const token = new URL(page.url()).searchParams.get('access_token') ?? '';
  expect(token).not.to.equal('');
  return token;
}

/** Starts a login, acts at the server, and returns the relay's answer to the callback. */
async function end(
  page: Page,
  { loginUrl, callbackUrl }: World,
  act: (page: Page) => Promise<void>,
): Promise<Response> {
  page.setDefaultTimeout(15_000);
  const callback = page.waitForResponse(startingWith(callbackUrl), { timeout: 30_000 });
  // The error of the page says more than that no callback came.
  callback.catch(() => {});
  await page.goto(loginUrl);
  await act(page);
  return await callback;
}

/** The outcome of this request in the relay's log. */
async function outcomeOf(answer: Response, { relay }: World): Promise<unknown> {
  const id = await answer.headerValue('x-request-id');
  const { outcome } = await relay.logLine(({ msg, requestId }) => {
    return msg === 'request' && requestId === id;
  });
  return outcome;
}

function startingWith(address: string): RegExp {
  return new RegExp(`^${RegExp.escape(address)}`);
}
