import { expect } from 'chai';
import {
  warnOfForeignOrigins,
  warnOfForeignPages,
} from '../../src/observability/occasional-warnings.ts';
import { koaContext } from '../harness/login/koa-context.ts';

/** A log, its clock in milliseconds, and its lines. */
function startLog() {
  const lines: unknown[] = [];
  const clock = { time: 0 };
  const logger = { warn: (line: unknown) => lines.push(line) };
  const origin = 'https://app.example';
  const isFrontEnd = () => false;
  const warn = warnOfForeignOrigins(logger as never, isFrontEnd, origin, () => clock.time);
  const report = (received: string) => warn(koaContext({ origin: received }), async () => {});
  return { lines, clock, report };
}

describe('the log of foreign origins', () => {
  it('names each origin once a minute', () => {
    const { lines, clock, report } = startLog();
    const configuredOrigin = 'https://app.example';
    for (const time of [0, 1, 59_999]) {
      clock.time = time;
      for (const origin of ['http://app.example', 'null']) report(origin);
    }
    const once = [
      { origin: 'http://app.example', configuredOrigin },
      { origin: 'null', configuredOrigin },
    ];
    expect(lines).to.deep.equal(once);
    clock.time = 60_000;
    for (const origin of ['http://app.example', 'null']) report(origin);
    expect(lines).to.deep.equal([...once, ...once]);
  });

  it('writes at most 20 lines a minute, for any number of origins', () => {
    const { lines, clock, report } = startLog();
    for (let index = 0; index < 10_000; index += 1) report(`https://${index}.example`);
    expect(lines).to.have.lengthOf(20);
    clock.time = 60_000;
    for (let index = 0; index < 10_000; index += 1) report(`https://${index}.example`);
    expect(lines).to.have.lengthOf(40);
  });

  it('does not repeat a text that is not an origin, and counts all such texts as one', () => {
    const { lines, report } = startLog();
    for (const origin of [
      ...['', 'app.example', 'https://', 'https://user:secret@app.example'],
      ...['https://app.example/?code=secret', 'https://app.example#secret'],
      ...['https://a\u001b[31m.example', 'https://app.example, https://other.example'],
      `https://${'a'.repeat(256)}`,
      `${'a'.repeat(64)}://app.example`,
      'javascript:alert(1)',
      'https://äpp.example',
    ]) {
      report(origin);
    }
    expect(lines).to.deep.equal([
      { origin: '(not an origin)', configuredOrigin: 'https://app.example' },
    ]);
  });

  it('names origins of every kind that browsers send', () => {
    const { lines, report } = startLog();
    const origins = [
      'http://localhost:3000',
      'https://[2001:db8::1]:8443',
      'chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb',
      'https://xn--pp-xia.example',
    ];
    for (const origin of origins) report(origin);
    expect(lines.map((line) => Object(line).origin)).to.deep.equal(origins);
  });
});

describe('the log of foreign pages', () => {
  it('names the origin of the page that started a login, and the configured one, once a minute', async () => {
    const lines: unknown[] = [];
    const logger = { warn: (line: unknown) => lines.push(line) };
    const configuredOrigin = 'http://localhost:5173';
    const warn = warnOfForeignPages(
      logger as never,
      (origin) => origin === configuredOrigin,
      (frontEnd) => (frontEnd === 'app' ? configuredOrigin : undefined),
      () => 0,
    );
    const start = (referer: string, frontEnd = 'app') => {
      const ctx = koaContext({ referer });
      const failing = async () => {
        ctx.state.frontEnd = frontEnd;
        throw new Error('the redirect_uri is unknown');
      };
      return expectRejected(async () => await warn(ctx, failing));
    };
    await start('http://localhost:5174/page?code=secret');
    await start('http://localhost:5174/');
    expect(lines).to.deep.equal([{ origin: 'http://localhost:5174', configuredOrigin }]);
    for (const referer of ['', 'about:client', `${configuredOrigin}/`, 'https://a\u001b.example']) {
      await start(referer);
    }
    await start('https://evil.example/', 'unknown');
    expect(lines).to.have.lengthOf(1);
  });
});

async function expectRejected(act: () => Promise<unknown>): Promise<void> {
  const failed = await act().then(
    () => false,
    () => true,
  );
  expect(failed, 'the failure of the start goes on').to.equal(true);
}
