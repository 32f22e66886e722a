import { expect } from 'chai';
import { answer, type Reply, redirect } from '../harness/provider/provider-behaviours.ts';
import { serve, serveTls } from '../harness/provider/serve.ts';
import type { Flags } from '../harness/relay/relay-process.ts';
import { frontendOrigin, startRelay, undiscovered } from '../harness/relay/relay-under-test.ts';
import { selfSignedCertificate } from '../harness/system/certificate.ts';
import { freePort } from '../harness/system/free-port.ts';
import { diagnoseHere } from './support/check.ts';
import { clientId } from './support/own-addresses.ts';
import { withProvider } from './support/provider.ts';

/** The finding on the subject with these flags, and the exit code. */
async function findingOn(subject: string, changes: Flags) {
  return await withProvider({}, async (flags) => {
    const result = await diagnoseHere({ flags: { ...flags, ...changes } });
    const { verdict, message, fix } = result.finding(subject);
    return { code: result.code, verdict, message, fix };
  });
}

/** The same while a server listens at that address. */
async function whileServing(subject: string, flag: string, reply: Reply, flags = {}) {
  const server = await serve((_request, response) => reply(response));
  try {
    return await findingOn(subject, { [flag]: `http://127.0.0.1:${server.port}`, ...flags });
  } finally {
    await server.close();
  }
}

/** The finding on the base URL while a relay with these flags runs there; `asked` are other flags of the check. */
async function whileRelayRuns(own: Flags, asked: Flags = {}, ofRelay: Flags = {}) {
  const port = String(await freePort());
  const flags = { 'base-url': `http://localhost:${port}`, ...own };
  const underTest = await startRelay({ port, ...flags, ...ofRelay });
  try {
    const { clientId } = underTest.provider.registration;
    return await findingOn('base URL', { ...flags, 'client-id': clientId, ...asked });
  } finally {
    await underTest.stop();
  }
}

const redirectTo = (location: string) => redirect(location, 307);

describe('login-relay check, about the base URL', () => {
  const subject = 'base URL';
  const startIt = /^start the relay, then check again/;

  it('reports that it reaches a relay with this configuration', async () => {
    expect(await whileRelayRuns({})).to.deep.equal({
      code: 0,
      verdict: 'ok',
      message: 'reaches a relay with this callback URL and client identifier',
      fix: null,
    });
    const other = await whileRelayRuns({}, { 'client-id': 'another' });
    expect(other).to.include({ code: 1, verdict: 'problem' });
    expect(other.message).to.equal('reaches a relay with another client identifier');
  });

  for (const origin of [frontendOrigin, 'https://*.preview.example.com', 'http://localhost:*']) {
    it(`reports that it reaches a relay that accepts only OAuth requests, for ${origin}`, async () => {
      const finding = await whileRelayRuns({ 'token-delivery': 'code', origin });
      expect(finding).to.include({ code: 0, verdict: 'ok' });
    });
  }

  it('reports that it reaches a relay whose only front end is a CMS', async () => {
    const finding = await whileRelayRuns({ 'token-delivery': 'cms', provider: 'github' });
    expect(finding.verdict).to.equal('ok');
  });

  it('reports it as not checked before the relay runs', async () => {
    const finding = await findingOn(subject, {
      'base-url': `http://127.0.0.1:${await freePort()}`,
    });
    expect(finding).to.include({ code: 0, verdict: 'not_checked' });
    expect(finding.message).to.match(/^nothing listens at the address/);
    expect(finding.fix).to.match(startIt);
  });

  for (const status of [502, 503, 504]) {
    it(`reports it as not checked if a proxy without its relay answers ${status}`, async () => {
      const finding = await whileServing(subject, 'base-url', answer(status));
      expect(finding).to.include({ code: 0, verdict: 'not_checked' });
      expect(finding.message).to.equal(`no relay is ready there (status ${status})`);
      expect(finding.fix).to.match(startIt);
    });
  }

  for (const flags of [{ 'token-delivery': 'code' }, { 'error-delivery': 'redirect' }]) {
    it(`reports it as not checked while the relay starts no login, with ${Object.values(flags)}`, async () => {
      const finding = await whileRelayRuns(flags, { origin: frontendOrigin }, undiscovered);
      expect(finding).to.include({ code: 0, verdict: 'not_checked' });
      expect(finding.message).to.equal('reaches a relay that starts no login now');
      expect(finding.fix).to.match(/^its log says why/);
    });
  }

  const others: Record<string, [reply: Reply, message: RegExp]> = {
    'a relay with another callback URL': [
      redirectTo(
        `https://id.example/?client_id=${clientId}&redirect_uri=https://a.example/callback`,
      ),
      /^reaches a relay with another callback URL$/,
    ],
    'a page': [answer(200), /^what answers at \/auth\/provider is not a relay \(status 200\)$/],
    'nothing at the path': [answer(404), /is not a relay \(status 404\)$/],
    'a redirect elsewhere': [redirectTo('https://www.example/'), /not a relay \(status 307\)$/],
    'a redirect to nowhere': [redirectTo('http://['), /not a relay \(status 307\)$/],
  };
  for (const [name, [reply, message]] of Object.entries(others)) {
    it(`names ${name} as a problem`, async () => {
      const finding = await whileServing(subject, 'base-url', reply);
      expect(finding).to.include({ code: 1, verdict: 'problem' });
      expect(finding.message).to.match(message);
      expect(finding.fix).to.contain('--base-url (BASE_URL)');
    });
  }

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
    const finding = await findingOn(subject, { origin: `http://127.0.0.1:${await freePort()}` });
    expect(finding).to.include({ code: 0, verdict: 'warning' });
    expect(finding.message).to.match(/^nothing listens at the address/);
    expect(finding.fix).to.match(/^start it, or correct --origin \(FRONTEND_ORIGIN\)/);
  });

  it('warns if it redirects to another origin', async () => {
    const finding = await whileServing(subject, 'origin', redirectTo('https://www.app.example/in'));
    expect(finding).to.include({ code: 0, verdict: 'warning' });
    expect(finding.message).to.equal(
      'redirects to another origin, https://www.app.example: requests from there are refused',
    );
  });

  it('warns if the page that a login ends at is missing', async () => {
    const finding = await whileServing(subject, 'origin', answer(404));
    expect(finding).to.include({ code: 0, verdict: 'warning', message: 'answers with status 404' });
    expect(finding.fix).to.contain('--frontend-url (FRONTEND_URL)').and.contain('--redirect-uri');
  });

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
      await withProvider({}, async (ofProvider) => {
        const both = await diagnoseHere({ flags: { ...ofProvider, ...flags } });
        expect(both.finding('front end')).to.include({ verdict: 'ok' });
        expect(both.finding(`page ${origin}/in`)).to.include({ verdict: 'ok' });
        expect(both.finding(`page ${origin}/missing`)).to.include({ verdict: 'warning' });
        expect(paths.splice(0)).to.have.members(['/', '/in', '/missing']);
        await diagnoseHere({ flags: { ...ofProvider, ...flags, 'token-delivery': 'code' } });
        expect(paths).to.have.members(['/in', '/missing']);
      });
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

  for (const [name, reply] of Object.entries({
    'shows a page': answer(200),
    'redirects inside its origin': redirectTo('/home'),
  })) {
    it(`accepts a front end that ${name}`, async () => {
      expect(await whileServing(subject, 'origin', reply)).to.include({
        code: 0,
        verdict: 'ok',
        message: 'answers',
      });
    });
  }
});
