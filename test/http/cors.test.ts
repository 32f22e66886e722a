import { expect } from 'chai';
import { cors } from '../../src/http/cors.ts';
import { warnOfForeignOrigins } from '../../src/observability/occasional-warnings.ts';
import { createOriginMatcher } from '../../src/origins/origin-pattern.ts';
import { koaContext } from '../harness/login/koa-context.ts';

const origins = [
  'https://app.example',
  'https://blog.example:8443',
  'https://*.preview.example.com',
  'http://localhost:*',
];
const allowed = [
  'https://app.example',
  'https://blog.example:8443',
  'https://pull-7.preview.example.com',
  'http://localhost:5173',
];
const foreign = [
  'https://blog.example',
  'https://preview.example.com',
  'https://a.b.preview.example.com',
  'https://*.preview.example.com',
  'http://localhost:*',
  'http://127.0.0.1:5173',
  'null',
  'https://app.example, https://blog.example:8443',
];

describe('the origins of several front ends', () => {
  const isFrontEnd = createOriginMatcher(origins);
  const middleware = cors({ hasOrigin: isFrontEnd });

  async function headersFor(method: string, headers: Record<string, string>) {
    const ctx = koaContext(headers);
    ctx.method = method;
    await middleware(ctx, async () => {});
    return ctx.response.headers;
  }

  for (const [request, method, asked] of [
    ['a request', 'GET', {}],
    ['a preflight', 'OPTIONS', { 'access-control-request-method': 'POST' }],
    ['an OPTIONS request that is no preflight', 'OPTIONS', {}],
  ] as const) {
    it(`${request} from each of them is answered for this origin`, async () => {
      for (const origin of allowed) {
        const headers = await headersFor(method, { origin, ...asked });
        expect(headers).to.include({
          'access-control-allow-origin': origin,
          'access-control-allow-credentials': 'true',
          vary: 'Origin',
        });
      }
    });

    it(`${request} from another origin gets no CORS headers`, async () => {
      for (const origin of [...foreign, undefined]) {
        const headers = await headersFor(method, { ...(origin && { origin }), ...asked });
        expect(headers, origin).to.deep.equal({ vary: 'Origin' });
      }
    });
  }

  it('are not reported as foreign, and all others are', async () => {
    const reported: string[] = [];
    const warn = (line: { readonly origin: string }) => reported.push(line.origin);
    const report = warnOfForeignOrigins({ warn } as never, createOriginMatcher(origins), undefined);
    for (const origin of [...allowed, ...foreign]) await report(koaContext({ origin }), async () => {});
    await report(koaContext(), async () => {});
    const shown = foreign.map((origin) => (/[*,]/.test(origin) ? '(not an origin)' : origin));
    expect(reported).to.deep.equal([...new Set(shown)]);
  });
});
