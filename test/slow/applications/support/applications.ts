import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { screenshot, useBrowser, wholeBrowser } from '../../../harness/browser/chromium.ts';
import { type CertifiedProvider, startCertifiedProvider } from '../../../harness/provider/certified-provider.ts';
import { RelayProcess } from '../../../harness/relay/relay-process.ts';
import { selfSignedCertificate } from '../../../harness/system/certificate.ts';
import { freePort } from '../../../harness/system/free-port.ts';
import { needsPrograms } from '../../../harness/system/needs.ts';
import { startedOnce } from '../../../harness/system/started-once.ts';
import { Workspace } from '../../../harness/system/workspace.ts';

/** A program that people open with a browser, as its authors publish it. */
export interface Application {
  readonly name: string;
  /** The programs that it needs in PATH. By default none, because npm has installed it. */
  readonly programs?: readonly string[];
  /**
   * Starts it on 127.0.0.1.
   *
   * @param place.address the only address that it is told, if it is told any
   */
  readonly start: (place: {
    readonly workspace: Workspace;
    readonly port: number;
    readonly address: string;
  }) => Promise<void>;
  /** Name and password that the browser sends if it asks for them by itself, without a page. */
  readonly httpCredentials?: { readonly username: string; readonly password: string };
}

/** A file of a library that only these tests have. */
export const programOf = (path: string) => join(import.meta.dirname, '..', 'node_modules', path);

/** The provider asks for a name and a password, as providers do. */
const client = { clientId: 'applications', clientSecret: 'a client secret of forty characters, 0123' };

/** An application that is open to people who log in at a provider, or to everybody. */
class Place {
  readonly workspace: Workspace;
  /** The address that people open. */
  readonly address: string;
  /** The complaints of the browser: errors in the console, exceptions, and answers with an error. */
  readonly complaints: string[] = [];
  readonly #relay: RelayProcess | undefined;
  readonly #provider: CertifiedProvider | undefined;

  /** Starts the application alone, or with the relay in front of it. */
  static async start({ name, start }: Application, isBehindRelay: boolean): Promise<Place> {
    const workspace = await Workspace.create();
    const port = await freePort();
    if (!isBehindRelay) {
      const address = `http://${name}.localhost:${port}`;
      await start({ workspace, port, address });
      return new Place(workspace, address);
    }
    const own = await freePort();
    const host = (word: string) => `https://${word}.example.com:${own}`;
    await start({ workspace, port, address: host(name) });
    const provider = await startCertifiedProvider({
      client: { ...client, redirectUri: `${host('login')}/auth/provider/callback` },
    });
    const certificate = await workspace.write('certificate.pem', await selfSignedCertificate('*.example.com'));
    const config = await workspace.write(
      'config.yaml',
      `base-url: ${host('login')}
host: 127.0.0.1
port: ${own}
tls-cert: ${certificate}
tls-key: ${certificate}
key-file: ${workspace.path('key')}
providers:
  provider: { issuer: '${provider.issuer}', client-id: ${client.clientId}, client-secret-file: ${await workspace.write('secret', client.clientSecret)}, scope: openid }
resources:
  application: { url: '${host(name)}/', upstream: 'http://127.0.0.1:${port}/', browser: true }
`,
    );
    const relay = new RelayProcess({ flags: { config } });
    await relay.logLine(({ msg }) => msg === 'listening');
    return new Place(workspace, host(name), relay, provider);
  }

  private constructor(workspace: Workspace, address: string, relay?: RelayProcess, provider?: CertifiedProvider) {
    this.workspace = workspace;
    this.address = address;
    this.#relay = relay;
    this.#provider = provider;
  }

  /** Opens an address of the application, and logs in where the relay asks for it. */
  async open(page: Page, path = '/'): Promise<void> {
    await page.goto(this.address + path);
    await this.logIn(page);
  }

  /** Does what a person does whom the provider asks who they are. */
  async logIn(page: Page): Promise<void> {
    if (!this.isProvider(page.url())) return;
    await page.locator('[name=login]').fill('ada');
    await page.locator('[name=password]').fill('any');
    await page.locator('[type=submit]').click();
    // The second page asks for consent.
    await page.locator('form:has([value=consent]) [type=submit]').click();
    await page.waitForURL((url) => url.href.startsWith(this.address));
  }

  /** Lets the provider ask again who they are. */
  async forgetPerson(page: Page): Promise<void> {
    await page.context().clearCookies({ domain: '127.0.0.1' });
  }

  isProvider(url: string): boolean {
    return this.#provider !== undefined && url.startsWith(this.#provider.issuer);
  }

  /** Notes what the browser complains of in this page from now on. */
  watch(page: Page): void {
    const note = (complaint: string, url: string) => {
      // The network may lack other hosts.
      if (url === '' || url.startsWith(this.address))
        this.complaints.push(`${complaint} ${url.replace(this.address, '')}`);
    };
    page.on('console', (message) => {
      const { url } = message.location();
      // The consequence of an answer with an error, which is noted below.
      if (message.type() === 'error' && !/^Failed to load resource/.test(message.text())) note(message.text(), url);
    });
    page.on('pageerror', (error) => note(`${error}`, ''));
    page.on('response', (response) => {
      if (response.status() >= 400) note(`${response.status()} ${response.request().method()}`, response.url());
    });
  }

  async stop(): Promise<void> {
    await this.#relay?.stop();
    await this.#provider?.close();
    await this.workspace.close();
  }
}

/** The tools of a test of an application. */
export interface Visit {
  readonly page: Page;
  readonly place: Place;
  readonly isBehindRelay: boolean;
  /** Saves a picture of the page, if `SCREENSHOTS` names a folder. */
  picture(name: string): Promise<void>;
}

/**
 * Declares what people do in an application. It is done twice: at the application itself, and behind the relay. So a step
 * that fails behind the relay alone is the relay's fault.
 *
 * @param tasks what they do, from its first page on
 * @param isKnown whether the application itself causes a complaint of the browser
 */
export function describeApplication(
  application: Application,
  tasks: Readonly<Record<string, (visit: Visit) => Promise<void>>>,
  isKnown: (complaint: string) => boolean = () => false,
): void {
  for (const isBehindRelay of [false, true]) {
    const way = isBehindRelay ? 'behind the relay' : 'by itself';
    needsPrograms(...(application.programs ?? [])).describe(`${application.name} ${way}`, () => {
      const openPage = useBrowser(() => ({
        executablePath: wholeBrowser,
        args: ['--ignore-certificate-errors', '--host-resolver-rules=MAP *.example.com 127.0.0.1'],
        // Pages that the back button shows again without a request.
        ignoreDefaultArgs: ['--disable-back-forward-cache'],
      }));
      const { httpCredentials } = application;
      const options = { viewport: { width: 1280, height: 800 }, ...(httpCredentials && { httpCredentials }) };
      const place = startedOnce(
        'it',
        () => Place.start(application, isBehindRelay),
        (one) => one.stop(),
      );
      beforeEach(() => {
        place().complaints.length = 0;
      });

      for (const [task, doIt] of Object.entries(tasks)) {
        it(task, async () => {
          const page = await openPage(options);
          const picture = (name: string) => screenshot(page, `${application.name} ${way} ${name}`.replaceAll(' ', '-'));
          place().watch(page);
          try {
            await place().open(page);
            await doIt({ page, place: place(), isBehindRelay, picture });
          } catch (error) {
            await picture('failed');
            throw new Error(`${error}\n${place().complaints.join('\n')}`);
          }
          const complaints = place().complaints.filter((complaint) => !isKnown(complaint));
          if (complaints.length > 0) throw new Error(`The browser complains:\n${complaints.join('\n')}`);
        });
      }

      if (isBehindRelay) {
        it('is closed after a logout, and opens again after a login', async () => {
          const page = await openPage(options);
          await place().open(page);
          await page.goto(`${place().address}/.login-relay/logout`);
          await page.getByRole('button').click();
          await page.getByRole('heading', { name: 'logged out' }).waitFor();
          await place().forgetPerson(page);
          await page.evaluate('void setTimeout(() => history.go(-2))');
          await page.waitForURL((url) => place().isProvider(url.href));
          await place().open(page);
          expect(new URL(page.url()).origin).to.equal(place().address);
        });
      }
    });
  }
}
