import { expect } from 'chai';
import {
  createOccasionalWarning,
  warnOfForeignOrigins,
  warnOfForeignPages,
  warnOfFullGateway,
  warnOfOtherHosts,
} from '../../src/observability/occasional-warnings.ts';
import { outcomeOf } from '../harness/expect/failure-code.ts';
import { koaContext } from '../harness/login/koa-context.ts';

/** A log, and what is in its lines. */
function startLog<Line>() {
  const lines: Line[] = [];
  return { lines, logger: { warn: (line: Line) => lines.push(line) } as never };
}

const configuredOrigin = 'https://app.example';
const pass = async () => {};

describe('a warning that is written occasionally', () => {
  it('is written once a minute for each of at most 20 subjects', () => {
    let time = 0;
    const { lines, logger } = startLog<object>();
    const warn = createOccasionalWarning(logger, 'message', () => time);
    const warnOf = (...subjects: string[]) => {
      for (const subject of subjects) warn(subject, { subject });
    };
    for (time of [0, 1, 59_999, 60_000]) warnOf('a', 'b', 'a');
    expect(lines).to.deep.equal(['a', 'b', 'a', 'b'].map((subject) => ({ subject })));
    for (time of [120_000, 180_000]) {
      for (let index = 0; index < 100_000; index += 1) warnOf(`${index}`);
    }
    expect(lines).to.have.length(4 + 2 * 20);
  });

  it('names the person who has most at the gateway only if people are logged, and counts only for a line', () => {
    for (const [namesPeople, person] of [
      [true, '42'],
      [false, undefined],
    ] as const) {
      const { lines, logger } = startLog<object>();
      let counts = 0;
      const countHolders = () => {
        counts += 1;
        return { people: 3, most: 128, person: '42' };
      };
      const warn = warnOfFullGateway(logger, countHolders, namesPeople);
      for (let refused = 0; refused < 1000; refused += 1) warn();
      expect(lines).to.deep.equal([{ people: 3, most: 128, person }]);
      expect(counts).to.equal(1);
    }
  });

  it('does not flood the log, whatever origins and hosts clients make up', async () => {
    const { lines, logger } = startLog();
    const ofOrigin = warnOfForeignOrigins(logger, () => false, configuredOrigin);
    const ofHost = warnOfOtherHosts(logger, 'https://login.example.com');
    for (let index = 0; index < 1000; index += 1) {
      await ofOrigin(koaContext({ origin: `https://${index}.example` }), pass);
      await ofHost(koaContext({ host: `${index}.example` }), pass);
    }
    expect(lines).to.have.length(40);
  });
});

describe('the log of foreign origins', () => {
  async function reported(...origins: string[]): Promise<unknown[]> {
    const { lines, logger } = startLog();
    const warn = warnOfForeignOrigins(logger, () => false, configuredOrigin);
    for (const origin of origins) await warn(koaContext({ origin }), pass);
    return lines;
  }

  it('does not repeat a text that is not an origin, and counts all such texts together', async () => {
    const lines = await reported(
      '',
      'app.example',
      'https://',
      'https://user:secret@app.example',
      'https://app.example/?code=secret',
      'https://app.example#secret',
      'https://a\u001b[31m.example',
      'https://app.example, https://other.example',
      `https://${'a'.repeat(256)}`,
      `${'a'.repeat(64)}://app.example`,
      'javascript:alert(1)',
      'https://äpp.example',
    );
    expect(lines).to.deep.equal([{ origin: '(not an origin)', configuredOrigin }]);
  });

  it('names origins of every kind that browsers send', async () => {
    const origins = [
      'http://localhost:3000',
      'https://[2001:db8::1]:8443',
      'https://xn--pp-xia.example',
      'chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb',
      'null',
    ];
    expect(await reported(...origins)).to.deep.equal(origins.map((origin) => ({ origin, configuredOrigin })));
  });
});

describe('the log of foreign pages', () => {
  it('names the origin of the page that started a login, and the configured origin, once a minute', async () => {
    const { lines, logger } = startLog();
    const warn = warnOfForeignPages(
      logger,
      (origin) => origin === configuredOrigin,
      (frontEnd) => (frontEnd === 'app' ? configuredOrigin : undefined),
    );
    const start = async (referer: string, frontEnd = 'app') => {
      const ctx = koaContext({ referer });
      const failing = async () => {
        ctx.state.frontEnd = frontEnd;
        throw new Error('the redirect_uri is unknown');
      };
      const outcome = await outcomeOf((async () => await warn(ctx, failing))());
      expect(outcome, 'the failure of the start goes on').to.contain('is unknown');
    };
    await start('http://localhost:5174/page?code=secret');
    await start('http://localhost:5174/');
    for (const referer of ['', 'about:client', `${configuredOrigin}/`, 'https://a\u001b.example']) {
      await start(referer);
    }
    await start('https://evil.example/', 'unknown');
    expect(lines).to.deep.equal([{ origin: 'http://localhost:5174', configuredOrigin }]);
  });
});

describe('the log of logins that start under another host name', () => {
  async function reported(baseUrl: string, host: string | undefined): Promise<string[]> {
    const { lines, logger } = startLog<{ readonly host: string }>();
    let passedOn = 0;
    await warnOfOtherHosts(logger, baseUrl)(koaContext(host === undefined ? {} : { host }), async () => {
      passedOn += 1;
    });
    expect(passedOn, 'the login goes on').to.equal(1);
    return lines.map((line) => line.host);
  }

  for (const [baseUrl, host, other] of [
    ['http://localhost:8000', '127.0.0.1:8000', ['127.0.0.1:8000']],
    ['http://localhost:8000', '[::1]:8000', ['[::1]:8000']],
    ['http://127.0.0.1:8000', 'localhost:8000', ['localhost:8000']],
    ['https://login.example.com', 'www.login.example.com', ['www.login.example.com']],
    ['https://login.example.com', 'LOGIN.example.org:443', ['login.example.org']],
    ['https://login.example.com/relay', 'example.com', ['example.com']],
    ['http://localhost:8000', 'localhost:8000', []],
    ['http://localhost:8000', 'LocalHost:9000', []],
    ['https://login.example.com', 'login.example.com', []],
    ['https://login.example.com', 'login.example.com:8443', []],
    ['https://login.example.com', undefined, []],
  ] as const) {
    it(`${other.length > 0 ? 'names' : 'does not name'} ${host} for ${baseUrl}`, async () => {
      expect(await reported(baseUrl, host)).to.deep.equal(other);
    });
  }

  it('names no host that is malformed', async () => {
    for (const host of [
      '',
      'a b',
      "a'b;c",
      'user@evil.example',
      'evil.example/path',
      'evil.example?code=1',
      'evil.example#',
      '<b>.example',
      'a'.repeat(254),
      'evil\nexample',
      '%0d%0aexample',
      '[::1',
      'example:99999',
    ]) {
      for (const named of await reported('https://login.example.com', host)) {
        expect(named).to.match(/^[a-z0-9._-]{1,253}$/);
      }
    }
  });
});
