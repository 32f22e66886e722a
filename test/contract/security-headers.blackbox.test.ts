import { expect } from 'chai';
import type { Answer } from '../harness/client/http-client.ts';
import { canary } from '../harness/expect/canaries.ts';
import { expectSafeHeaders } from '../harness/expect/expectations.ts';
import { answer, reset } from '../harness/provider/provider-behaviours.ts';
import {
  callbackPath,
  frontendOrigin,
  loginPath,
  relayUnderTest,
  userPath,
} from '../harness/relay/relay-under-test.ts';

describe('security headers', () => {
  const underTest = relayUnderTest();

  const situations: Record<string, [status: number, act: () => Promise<Answer>]> = {
    'a login that starts': [307, () => underTest().get(loginPath)],
    'a login that succeeds': [307, () => underTest().logIn()],
    'a record': [200, () => underTest().lookUp()],
    'no code': [400, () => underTest().get(callbackPath)],
    'no credentials': [401, () => underTest().get(userPath)],
    'an unknown path': [404, () => underTest().get('/unknown')],
    'another method': [405, () => underTest().send({ method: 'POST', path: loginPath })],
    'a HEAD request': [405, () => underTest().send({ method: 'HEAD', path: loginPath })],
    'a preflight': [
      204,
      () =>
        underTest().send({
          method: 'OPTIONS',
          path: userPath,
          headers: [
            ['Origin', frontendOrigin],
            ['Access-Control-Request-Method', 'GET'],
          ],
        }),
    ],
    'a refused token': [
      401,
      () => {
        underTest().provider.onUser = answer(401);
        return underTest().lookUp();
      },
    ],
    'a refused code': [
      400,
      () => {
        underTest().provider.onToken = answer(400);
        return underTest().logIn();
      },
    ],
    'a provider that is gone': [
      502,
      () => {
        underTest().provider.onUser = reset;
        return underTest().lookUp();
      },
    ],
    'a malformed request': [400, () => underTest().sendBytes('HELLO\r\n\r\n')],
    'headers that are too large': [
      431,
      () => underTest().sendBytes(`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
    ],
  };
  for (const [name, [status, act]] of Object.entries(situations)) {
    it(`are on the answer to ${name}`, async () => {
      const answered = await act();
      expect(answered.status).to.equal(status);
      expectSafeHeaders(answered);
    });
  }

  it('have a different X-Request-Id for each request', async () => {
    const ids = new Set<unknown>();
    for (const act of Object.values(situations)) ids.add((await act[1]()).headers['x-request-id']);
    expect(ids.size).to.equal(Object.keys(situations).length);
  });

  it('ignore a request id of the client, which could forge a log line', async () => {
    const answered = await underTest().send({
      path: loginPath,
      headers: [['X-Request-Id', `${canary('token')}" "level":"error`]],
    });
    expectSafeHeaders(answered);
  });
});
