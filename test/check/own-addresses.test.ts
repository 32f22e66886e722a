import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import type { Finding } from '../../src/check/finding.ts';
import { answer, type Reply, redirect } from '../harness/provider/provider-behaviours.ts';
import { serve, serveTls } from '../harness/provider/serve.ts';
import { createRelayHere } from '../harness/relay/relay-in-process.ts';
import type { Flags } from '../harness/relay/relay-process.ts';
import { frontendOrigin, undiscovered } from '../harness/relay/relay-under-test.ts';
import { selfSignedCertificate } from '../harness/system/certificate.ts';
import { freePort } from '../harness/system/free-port.ts';
import { optionsOf } from './support/check.ts';
import { clientId } from './support/own-addresses.ts';
import { diagnoseWith } from './support/provider.ts';

/** The finding on the subject with these flags, and the exit code. */
async function findingOn(subject: string, changes: Flags) {
  const result = await diagnoseWith({}, changes);
  return { code: result.code, ...result.finding(subject) };
}

/** The finding while a server listens at that address. */
async function whileServing(subject: string, flag: string, reply: Reply, flags = {}) {
  const server = await serve((_request, response) => reply(response));
  try {
    return await findingOn(subject, { [flag]: `http://127.0.0.1:${server.port}`, ...flags });
  } finally {
    await server.close();
  }
}

/** The finding on the base URL while a relay with these flags runs there; `asked` are other flags of the check. */
async function whileRelayRuns(own: Flags, asked: Flags = {}, ofRelay: Flags = {}, subject = 'base URL') {
  let listener: RequestListener | undefined;
  const server = await serve((request, response) => listener?.(request, response));
  const flags = { 'base-url': `http://localhost:${server.port}`, ...own };
  const relay = await createRelayHere(optionsOf({ ...flags, ...ofRelay }));
  listener = relay.listener;
  try {
    return await findingOn(subject, { ...flags, 'client-id': clientId, ...asked });
  } finally {
    relay.close();
    await server.close();
  }
}

const redirectTo = (location: string) => redirect(location, 307);

/** Expects the verdict, and that only a problem ends the command with 1. */
function expectFinding(
  found: Awaited<ReturnType<typeof findingOn>>,
  verdict: Finding['verdict'],
  message: RegExp,
  fix = /^/,
): void {
  expect(found).to.include({ verdict, code: verdict === 'problem' ? 1 : 0 });
  expect(found.message).to.match(message);
  expect(`${found.fix}`).to.match(fix);
}

describe('login-relay check, about the base URL', () => {
  const subject = 'base URL';
  const reached = /^reaches a relay with this callback URL and client identifier$/;
  const startIt = /^start the relay, then check again/;

  it('reports that it reaches a relay with this configuration', async () => {
    expectFinding(await whileRelayRuns({}), 'ok', reached, /^null$/);
    const other = await whileRelayRuns({}, { 'client-id': 'another' });
    expectFinding(other, 'problem', /^reaches a relay with another client identifier$/);
  });

  for (const origin of [frontendOrigin, 'https://*.preview.example.com', 'http://localhost:*']) {
    it(`reports that it reaches a relay that accepts only OAuth requests, for ${origin}`, async () => {
      expectFinding(await whileRelayRuns({ 'token-delivery': 'code', origin }), 'ok', reached);
    });
  }

  it('reports that it reaches a relay whose only front end is a CMS', async () => {
    const flags = { 'token-delivery': 'cms', provider: 'github' };
    expectFinding(await whileRelayRuns(flags), 'ok', reached);
  });

  it('reports it as not checked before the relay runs', async () => {
    const flags = { 'base-url': `http://127.0.0.1:${await freePort()}` };
    const found = await findingOn(subject, flags);
    expectFinding(found, 'not_checked', /^nothing listens at the address/, startIt);
  });

  for (const flags of [{ 'token-delivery': 'code' }, { 'error-delivery': 'redirect' }]) {
    it(`reports it as not checked while the relay starts no login, with ${Object.values(flags)}`, async () => {
      const found = await whileRelayRuns(flags, { origin: frontendOrigin }, undiscovered);
      const message = /^reaches a relay that starts no login now$/;
      expectFinding(found, 'not_checked', message, /^its log says why/);
    });
  }

  for (const status of [502, 503, 504]) {
    it(`reports it as not checked if a proxy without its relay answers ${status}`, async () => {
      const found = await whileServing(subject, 'base-url', answer(status));
      const message = new RegExp(`^no relay is ready there \\(status ${status}\\)$`);
      expectFinding(found, 'not_checked', message, startIt);
    });
  }

  const other = `client_id=${clientId}&redirect_uri=https://a.example/callback`;
  for (const [name, [reply, message]] of Object.entries<[Reply, RegExp]>({
    'a relay with another callback URL': [
      redirectTo(`https://id.example/?${other}`),
      /^reaches a relay with another callback URL$/,
    ],
    'a page': [answer(200), /^what answers at \/auth\/provider is not a relay \(status 200\)$/],
    'nothing at the path': [answer(404), /is not a relay \(status 404\)$/],
    'a redirect elsewhere': [redirectTo('https://www.example/'), /not a relay \(status 307\)$/],
    'a redirect to nowhere': [redirectTo('http://['), /not a relay \(status 307\)$/],
  })) {
    it(`names ${name} as a problem`, async () => {
      const found = await whileServing(subject, 'base-url', reply);
      expectFinding(found, 'problem', message, /--base-url \(BASE_URL\)/);
    });
  }

  it('recognizes the 404 of a relay, and says that the proxy changes the path or the relay has another configuration', async () => {
    const found = await whileRelayRuns({}, { 'path-name': 'other' });
    expectFinding(
      found,
      'problem',
      /^a relay answers at \/auth\/other, but has no login there$/,
      /as it is, or without/,
    );
  });

  it('reports it as not checked if the authority of its certificate is unknown here', async () => {
    const server = await serveTls(await selfSignedCertificate('localhost'), (_request, response) =>
      answer(200)(response),
    );
    try {
      const flags = { 'base-url': `https://localhost:${server.port}` };
      expect(await findingOn(subject, flags)).to.include({ code: 0, verdict: 'not_checked' });
    } finally {
      await server.close();
    }
  });
});

describe('login-relay check, about the front end', () => {
  const subject = 'front end';

  it('warns if it does not answer', async () => {
    const found = await findingOn(subject, { origin: `http://127.0.0.1:${await freePort()}` });
    const fix = /^start it, or correct --origin \(FRONTEND_ORIGIN\)/;
    expectFinding(found, 'warning', /^nothing listens at the address/, fix);
  });

  const moved = /^redirects to another origin, https:\/\/www\.app\.example: requests from there are refused$/;
  const missing = /--frontend-url \(FRONTEND_URL\).*--redirect-uri/;
  for (const [name, [reply, verdict, message, fix]] of Object.entries<[Reply, Finding['verdict'], RegExp, RegExp?]>({
    'a page': [answer(200), 'ok', /^answers$/],
    'a redirect inside its origin': [redirectTo('/home'), 'ok', /^answers$/],
    'a redirect to another origin': [redirectTo('https://www.app.example/in'), 'warning', moved],
    'nothing where a login ends': [answer(404), 'warning', /^answers with status 404$/, missing],
  })) {
    it(`has the verdict ${verdict} on a front end that has ${name}`, async () => {
      expectFinding(await whileServing(subject, 'origin', reply), verdict, message, fix);
    });
  }

  it('names no redirect URI if the front end takes none', async () => {
    const flags = { 'token-delivery': 'session', 'base-url': 'http://127.0.0.1:8000' };
    const { fix } = await whileServing(subject, 'origin', answer(404), flags);
    expect(fix).to.contain('--frontend-url').and.not.contain('--redirect-uri');
  });

  it('asks for each page that a login can end at', async () => {
    const paths: string[] = [];
    const server = await serve(({ url }, response) => {
      paths.push(`${url}`);
      response.writeHead(url === '/missing' ? 404 : 200).end();
    });
    try {
      const origin = `http://127.0.0.1:${server.port}`;
      const flags = { origin, 'redirect-uri': `${origin}/in ${origin}/missing` };
      const both = await diagnoseWith({}, flags);
      expect(both.finding('front end')).to.include({ verdict: 'ok' });
      expect(both.finding(`page ${origin}/in`)).to.include({ verdict: 'ok' });
      expect(both.finding(`page ${origin}/missing`)).to.include({ verdict: 'warning' });
      expect(paths.splice(0)).to.have.members(['/', '/in', '/missing']);
      await diagnoseWith({}, { ...flags, 'token-delivery': 'code' });
      expect(paths).to.have.members(['/in', '/missing']);
    } finally {
      await server.close();
    }
  });

  it('does not ask for a page if the origin stands for several', async () => {
    for (const origin of ['https://*.preview.example.com', 'http://localhost:*']) {
      expect(await findingOn(subject, { origin, 'token-delivery': 'code' })).to.include({
        verdict: 'not_checked',
        message: `${origin} stands for several origins`,
      });
    }
  });
});

describe('login-relay check, about addresses on plain http', () => {
  const plain = /is on plain http: .* can be read in transit/;
  for (const [name, [flags, message]] of Object.entries<[Flags, RegExp]>({
    'a base URL': [{ 'base-url': 'http://relay.example', origin: 'https://app.example' }, plain],
    'a front end': [{ 'base-url': 'https://relay.example', origin: 'http://app.example' }, plain],
    'a base URL that only this machine can reach': [
      { origin: 'https://app.example' },
      /^the base URL works only on this machine, but the front end is elsewhere$/,
    ],
    'a provider': [
      { 'token-url': 'http://provider.invalid/token' },
      /^the provider is called on plain http: the client secret and tokens can be read in transit$/,
    ],
  })) {
    it(`warns of ${name}`, async () => {
      const { report } = await diagnoseWith({}, { ...flags, 'insecure-http': 'true' });
      const warnings = report.findings.filter(({ verdict }) => verdict === 'warning');
      expect(warnings.some((one) => message.test(one.message))).to.equal(true);
    });
  }
});

describe('login-relay check, about a callback path of its own', () => {
  const subject = 'callback path';
  const flags = { 'callback-path': '/oauth2/callback' };

  it('reports that it reaches a relay', async () => {
    expectFinding(await whileRelayRuns(flags, {}, {}, subject), 'ok', /^reaches a relay$/, /^null$/);
  });

  it('reports a relay that has no callback there', async () => {
    const found = await whileRelayRuns({}, flags, {}, subject);
    expectFinding(
      found,
      'problem',
      /^a relay answers there, but no login ends there$/,
      /^restart the relay, or correct/,
    );
  });

  it('reports a proxy that passes only /auth to the relay', async () => {
    const found = await whileServing(subject, 'base-url', answer(404), flags);
    const message = /^what answers at \/oauth2\/callback is not a relay \(status 404\)$/;
    expectFinding(found, 'problem', message, /^let the proxy pass that path to the relay, or correct --callback-path/);
  });

  it('does not check it while no relay runs', async () => {
    const base = `http://127.0.0.1:${await freePort()}`;
    expectFinding(await findingOn(subject, { 'base-url': base, ...flags }), 'not_checked', /./, /^start the relay/);
    const unready = await whileServing(subject, 'base-url', answer(503), flags);
    expectFinding(unready, 'not_checked', /^no relay is ready there \(status 503\)$/, /^start the relay/);
  });
});
