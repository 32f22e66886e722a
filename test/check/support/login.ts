import { text } from 'node:stream/consumers';
import { diagnoseLogin } from '../../../src/check/login/check-login.ts';
import { FakeBrowser, type Page as OpenedPage } from '../../harness/browser/fake-browser.ts';
import { canary } from '../../harness/expect/canaries.ts';
import { type Page, type PageRequest, type Pages, pageFor, pageRequest } from '../../harness/provider/pages.ts';
import { json } from '../../harness/provider/provider-behaviours.ts';
import { serve } from '../../harness/provider/serve.ts';
import { freePort } from '../../harness/system/free-port.ts';
import { secretFile } from '../../harness/system/secret-file.ts';
import { expectOneVerdict } from './check.ts';

export const secret = canary('secret');
export const code = canary('code');

/** Grants every login. */
export const consent: Page = (response, { query }) => {
  const target = `${query.get('redirect_uri')}?${new URLSearchParams({ code, state: query.get('state') ?? '' })}`;
  response.writeHead(302, { Location: target }).end();
};

/** The changes of a test. `P` stands for the address of the provider. */
export interface Setting {
  readonly pages?: Pages;
  /** Lines of the entry of `providers`. */
  readonly lines?: readonly string[];
  readonly frontEnd?: string;
  readonly relay?: string;
  /** Without the three URLs. */
  readonly isDiscovered?: boolean;
  /** The end of the base URL. */
  readonly basePath?: string;
  readonly patience?: number;
  /** Acts as the person. */
  readonly act?: (startUrl: string, stop: () => void, configuration: string) => Promise<unknown>;
  /** The address of a provider that runs already. */
  readonly at?: string;
  /** A port on which something listens. */
  readonly taken?: number;
  /** With flags only, and without a file. */
  readonly isByFlags?: boolean;
  /** The line of another provider. */
  readonly second?: string;
}

/** Opens the start in a browser, which follows all redirects. */
export const logIn = (startUrl: string): Promise<OpenedPage> => new FakeBrowser().visit(startUrl);

/** The findings of `login-relay check --login` at a provider with these pages, while a person logs in. */
export async function checkLogin(setting: Setting, chosen?: string) {
  const requests: PageRequest[] = [];
  const pages: Pages = { '/authorize': consent, '/token': json({ access_token: canary('token') }), ...setting.pages };
  const provider = await serve(async (message, response) => {
    const request = pageRequest(message, await text(message));
    requests.push(request);
    (pageFor(request, pages) ?? json({ error: 'not_found' }, 404))(response, request);
  });
  const port = setting.taken ?? (await freePort());
  const configuration = fileOf(setting, port, setting.at ?? `http://127.0.0.1:${provider.port}`);
  const file = await secretFile(configuration);
  const said: string[] = [];
  let last: unknown;
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  let acted: Promise<void> | undefined;
  const say = (line: string) => {
    said.push(line);
    const startUrl = /^ {2}(http\S+)$/m.exec(line)?.[1];
    if (startUrl === undefined) return;
    acted = (async () => {
      last = await (setting.act ?? logIn)(startUrl, stop, configuration);
    })();
  };
  const { patience = 20_000 } = setting;
  try {
    const flags = setting.isByFlags ? flagsOf(port, `http://127.0.0.1:${provider.port}`) : { config: [file] };
    const sources = { flags, environment: {} };
    const { report, code: exitCode } = await diagnoseLogin(sources, chosen, { say, stopped, patience });
    await acted;
    expectOneVerdict(report.findings);
    return {
      report,
      exitCode,
      requests,
      port,
      said: said.join('\n'),
      page: last as OpenedPage,
      on: (subject: string) => report.findings.filter((one) => one.subject === subject),
      answer: (from: string) => report.answers?.find((one) => one.from === from),
      fixes: report.findings.map(({ fix }) => fix ?? '').join('\n'),
    };
  } finally {
    await provider.close();
  }
}

function fileOf(
  { lines = [], frontEnd, relay = '', isDiscovered, basePath = '', second = '' }: Setting,
  port: number,
  at: string,
) {
  const endpoints = ['authorize-url: P/authorize', 'token-url: P/token', 'user-url: P/user'];
  const entry = ['client-id: client-1', `client-secret: ${secret}`, ...(isDiscovered ? [] : endpoints), ...lines];
  return `base-url: http://127.0.0.1:${port}${basePath}
port: ${port}
${relay}
providers:
  x:
    ${entry.join('\n    ').replaceAll(/\bP(?=\/|$)/gm, at)}
${second.replaceAll(/\bP(?=\/)/g, at)}
front-ends:
  app: ${frontEnd ?? "{ origin: 'http://localhost:5173', token-delivery: code }"}
`;
}

function flagsOf(port: number, at: string) {
  const values = {
    origin: 'http://localhost:5173',
    baseUrl: `http://127.0.0.1:${port}`,
    port: `${port}`,
    clientId: 'client-1',
    clientSecret: secret,
    authorizeUrl: `${at}/authorize`,
    tokenUrl: `${at}/token`,
    userUrl: `${at}/user`,
  };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
}
