import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { serve } from '../harness/provider/serve.ts';
import { freePort } from '../harness/system/free-port.ts';
import { diagnoseFile } from './support/check.ts';

type Head = [status: number, headers?: Record<string, string>];

const answers: Readonly<Record<string, Head>> = {
  '/private/': [401, { 'content-type': 'application/json' }],
  '/nothing/': [404, { 'content-type': 'text/html' }],
  '/moved/': [302, { location: '/moved/v2/' }],
  '/elsewhere/': [302, { location: '/login' }],
  '/page/': [200, { 'content-type': 'text/html; charset=utf-8' }],
  '/busy/': [503],
};

/** The report of `login-relay check` about the URL of each answer, and about a URL at which nothing listens. */
async function findingsOnApis() {
  const requests: IncomingMessage[] = [];
  const server = await serve((request, response) => {
    requests.push(request);
    response.writeHead(...(answers[request.url ?? ''] ?? [200])).end('{}');
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const nowhere = `127.0.0.1:${await freePort()}`;
  const urls = [...Object.keys(answers).map((path) => [path, origin + path]), ['/gone/', `http://${nowhere}/`]];
  const text = `
base-url: http://127.0.0.1:${await freePort()}
providers:
  one: { issuer: ${origin}, client-id: client-1, client-secret: a client secret }
front-ends:
  app:
    origin: ${origin}
    token-delivery: session
    proxy:
${urls.map(([path, url]) => `      - { path: ${path}, url: '${url}' }\n`).join('')}`;
  try {
    const { report } = await diagnoseFile(text);
    const findings = report.findings.filter(({ subject }) => subject.startsWith('API '));
    return { findings, requests, origin, nowhere };
  } finally {
    await server.close();
  }
}

describe('login-relay check, about the APIs that pages use through the relay', () => {
  it('says whether something answers at each URL, and whose tokens go there', async () => {
    const { findings, requests, origin, nowhere } = await findingsOnApis();
    const told = findings.map(({ subject, verdict, message, fix }) =>
      [subject, verdict, message, ...(fix === null ? [] : [fix])].join(' | '),
    );
    const answersAs = (path: string, status: number) =>
      `API ${path} (app) | ok | ${origin}${path} answers (status ${status} without a token); the tokens of one go there`;
    expect(told).to.deep.equal([
      answersAs('/private/', 401),
      answersAs('/nothing/', 404),
      answersAs('/moved/', 302),
      `API /elsewhere/ (app) | warning | ${origin}/elsewhere/ redirects elsewhere, which the relay does not follow | correct the url of /elsewhere/`,
      `API /page/ (app) | warning | ${origin}/page/ answers with an HTML page, as APIs do not | correct the url of /page/`,
      'API /busy/ (app) | warning | the provider has a problem (status 503) | try again later, and look at the provider’s status page',
      `API /gone/ (app) | warning | nothing listens at the address (${nowhere}) | correct the url of /gone/; check host and port`,
    ]);
    const asked = requests.filter(({ url }) => answers[url ?? ''] !== undefined);
    expect(asked.map(({ url }) => url)).to.have.members(Object.keys(answers));
    for (const { method, headers } of asked) {
      expect(method).to.equal('GET');
      expect(headers).to.not.have.any.keys('authorization', 'cookie');
    }
  });
});
