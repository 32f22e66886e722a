import { expect } from 'chai';
import type { Answer } from '../harness/client/http-client.ts';
import { RawConnection } from '../harness/client/raw-connection.ts';
import { canary } from '../harness/expect/canaries.ts';
import { answer, json, type Reply, reset, silence } from '../harness/provider/provider-behaviours.ts';
import type { LogLine } from '../harness/relay/relay-process.ts';
import { callbackPath, loginPath, relayUnderTest, userPath } from '../harness/relay/relay-under-test.ts';

const requestFields = [
  'level',
  'time',
  'msg',
  'requestId',
  'action',
  'method',
  'route',
  'status',
  'durationMs',
  'outcome',
  'provider',
  'providerError',
  'excused',
  'asked',
];
const providerFields = ['endpoint', 'outcome', 'status', 'error', 'durationMs'];

describe('the log', () => {
  describe('as JSON', () => {
    const underTest = relayUnderTest();
    const impatient = relayUnderTest({ 'provider-timeout': '0.2' });

    const lineOf = (answered: Answer) => underTest().lineOf(answered);

    it('says where the relay listens and which callback URL to register', () => {
      const [line] = underTest().process.logLines.filter(({ msg }) => msg === 'listening');
      expect(line).to.include({
        level: 'info',
        address: `http://127.0.0.1:${underTest().port}`,
        callbackUrl: 'https://relay.example/auth/provider/callback',
      });
    });

    it('has a level, a time and a message in every line', async () => {
      await lineOf(await underTest().get('/unknown'));
      for (const line of underTest().process.logLines) {
        expect(line['level']).to.be.oneOf(['debug', 'info', 'warn', 'error', 'fatal']);
        expect(new Date(String(line['time'])).getTime()).to.be.closeTo(Date.now(), 600_000);
        expect(line['msg']).to.be.a('string').and.not.equal('');
      }
    });

    it('has one line for each request', async () => {
      const answers = [
        await underTest().get(loginPath),
        await underTest().logIn(),
        await underTest().lookUp(),
        await underTest().get('/unknown'),
        await underTest().send({ method: 'POST', path: userPath }),
        await underTest().get(callbackPath),
      ];
      for (const answered of answers) await lineOf(answered);
      // Lines are in the order in which the responses ended. So all lines are written now.
      const lines = underTest().process.logLines;
      for (const answered of answers) {
        const id = answered.headers['x-request-id'];
        expect(lines.filter(({ requestId }) => requestId === id)).to.have.lengthOf(1);
      }
    });

    const logIn = (onToken: Reply) => () => {
      underTest().provider.onToken = onToken;
      return underTest().logIn();
    };
    const lookUp = (onUser: Reply) => () => {
      underTest().provider.onUser = onUser;
      return underTest().lookUp();
    };
    const ask = (query: string) => () => underTest().get(`${callbackPath}?${query}`);
    const start = (redirectUri: string) => {
      const query = { response_type: 'code', client_id: 'app', redirect_uri: redirectUri };
      return underTest().get(`${loginPath}?${new URLSearchParams(query)}`);
    };
    const refused = { level: 'warn', route: callbackPath, status: 400 };
    const answered = { outcome: 'answered', status: 200 };
    const token = (status: number) => ({ provider: { endpoint: 'token', status } });
    const user = { endpoint: 'user' };

    /** An event, the fields of its line, and its relay. */
    const situations: Readonly<Record<string, readonly [() => Promise<Answer>, LogLine, typeof underTest?]>> = {
      'a login that starts': [
        () => underTest().get(`${loginPath}?secret=${canary('code')}`),
        { level: 'info', method: 'GET', route: loginPath, status: 307, outcome: 'ok' },
      ],
      'a login that succeeds': [
        () => underTest().logIn(),
        {
          level: 'info',
          method: 'GET',
          route: callbackPath,
          status: 307,
          outcome: 'ok',
          excused: true,
          provider: { endpoint: 'token', ...answered },
        },
      ],
      'a record': [
        () => underTest().lookUp(),
        { route: userPath, status: 200, outcome: 'ok', provider: { ...user, ...answered } },
      ],
      'a refused code': [logIn(answer(404, canary('token'))), { ...refused, ...token(404) }],
      'a refused client, which the operator has to repair': [
        logIn(json({ error: 'incorrect_client_credentials' })),
        { ...refused, level: 'error', outcome: 'client_refused', ...token(200) },
      ],
      'a redirect URI that is not known': [
        () => start(`https://u:${canary('code')}@other.example/back?${canary('code')}`),
        {
          outcome: 'redirect_uri_unknown',
          status: 400,
          asked: 'https://…@other.example/back…',
        },
      ],
      'a token that is missing': [
        logIn(json({ error: canary('code') })),
        { ...refused, outcome: 'token_missing', providerError: 'other', ...token(200) },
      ],
      'a token endpoint that fails': [
        logIn(answer(500, canary('token'))),
        { ...refused, outcome: 'token_endpoint_failed', ...token(500) },
      ],
      'a refused token': [
        lookUp(answer(401, canary('token'))),
        { route: userPath, status: 401, provider: { ...user, status: 401 } },
      ],
      'a provider that is gone': [lookUp(reset), { route: userPath, status: 502, provider: user }],
      'a provider that is too slow': [
        () => {
          impatient().provider.onToken = silence;
          return impatient().logIn();
        },
        { route: callbackPath, status: 504, provider: { endpoint: 'token' } },
        impatient,
      ],
      'a refusal with free text': [
        ask(`error=${canary('code')}&error_description=%0d%0a${canary('code')}`),
        { ...refused, providerError: 'other' },
      ],
      'a login that is cancelled': [
        ask('error=access_denied'),
        { level: 'warn', outcome: 'access_denied', providerError: 'access_denied' },
      ],
      'a prefetch, which is no fault of the relay': [
        () => underTest().send({ path: loginPath, headers: [['Sec-Purpose', 'prefetch']] }),
        { level: 'warn', outcome: 'prefetch_refused', status: 503 },
      ],
      'no credentials': [() => underTest().get(userPath), { level: 'info', route: userPath, status: 401 }],
      'an unknown path': [
        () => underTest().get(`/${canary('token')}?code=${canary('code')}`),
        { method: 'GET', status: 404 },
      ],
    };
    /** Each failure has an outcome of its own. */
    const failures = new Map<unknown, string>();
    for (const [name, [act, expected, at = underTest]] of Object.entries(situations)) {
      it(`has exactly the allowed fields for ${name}`, async () => {
        const line = await at().lineOf(await act());
        expect(requestFields).to.include.members(Object.keys(line));
        expect(line).to.include({ msg: 'request' });
        expect(line['durationMs']).to.be.a('number').and.be.at.least(0);
        expect(line['outcome']).to.match(/^[a-z]+(_[a-z]+)*$/);
        if (line['status'] !== 307 && line['status'] !== 200) {
          expect(line['outcome']).not.to.equal('ok');
          expect(failures.get(line['outcome']), `${line['outcome']}`).to.equal(undefined);
          failures.set(line['outcome'], name);
        }

        const { provider: expectedCall, ...rest } = expected;
        expect(line).to.include(rest);
        if (expectedCall === undefined) {
          expect(line).not.to.have.property('provider');
        } else {
          const call = Object(line['provider']);
          expect(providerFields).to.include.members(Object.keys(call));
          expect(call).to.include(expectedCall);
          expect(call.durationMs).to.be.a('number').and.be.at.least(0);
          expect(call.outcome).to.match(/^[a-z]+(_[a-z]+)*$/);
        }
      });
    }

    it('warns only of the first callback that is excused from the state check', async () => {
      await lineOf(await underTest().logIn());
      await lineOf(await underTest().logIn());
      const warnings = underTest().process.logLines.filter(({ msg }) => String(msg).includes('--state-check always'));
      expect(warnings.map(({ level }) => level)).to.deep.equal(['warn']);
    });

    it('has a line for a client that leaves before the answer', async () => {
      const { provider } = underTest();
      provider.onUser = silence;
      const earlier = new Set(underTest().process.logLines.map((line) => line['requestId']));
      const connection = await RawConnection.open(underTest().port);
      connection.say(`GET ${userPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\n\r\n`);
      await provider.arrivals(1);
      connection.close();
      const line = await underTest().process.logLine(({ requestId }) => !earlier.has(requestId));
      expect(line).to.include({ msg: 'request', route: userPath, status: 499 });
    });
  });

  describe("with the client's address", () => {
    const flags = { 'trusted-proxies': '127.0.0.1', 'log-client-address': 'cut' };
    const underTest = relayUnderTest(flags);

    it('has it in the line of a request, cut as configured', async () => {
      const headers: [string, string][] = [['X-Forwarded-For', '198.51.100.9, 192.0.2.7']];
      const line = await underTest().lineOf(await underTest().send({ path: userPath, headers }));
      expect(line['clientAddress']).to.equal('192.0.2.0/24');
      expect(underTest().process.stdout).to.not.contain('192.0.2.7').and.not.contain('198.51.100');
    });
  });

  describe("with the client's whole address", () => {
    const underTest = relayUnderTest({ 'log-client-address': 'whole' });

    it('also has the address in the lines of malformed requests', async () => {
      await underTest().sendBytes('nonsense\r\n\r\n');
      const line = await underTest().process.logLine(({ outcome }) => outcome === 'bad_request');
      expect(line['clientAddress']).to.equal('127.0.0.1');
    });
  });
});
