import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { type Serving, serve } from '../../../harness/provider/serve.ts';
import { createRelayHere } from '../../../harness/relay/relay-in-process.ts';
import { freePort } from '../../../harness/system/free-port.ts';
import { startedOnce } from '../../../harness/system/started-once.ts';
import { FakeGitHub } from './fake-github.ts';

const packages = join(import.meta.dirname, '../node_modules');

/** A CMS, and its bundle in the published package. */
const bundles = {
  'Decap CMS': 'decap-cms/dist/decap-cms.js',
  'Sveltia CMS': '@sveltia/cms/dist/sveltia-cms.js',
} as const;

export type CmsName = keyof typeof bundles;

const scopes = {
  github: 'repo user',
  gitlab: 'api',
  bitbucket: 'account repository:write',
} as const;

/** The name of a backend in the configuration of a CMS. */
export type Backend = keyof typeof scopes;

/** The `origin` of the front end: the blog's address, both of its addresses, or every port of this machine. */
const origins = {
  one: ({ blog }: CmsSite) => blog,
  two: ({ blog, otherBlog }: CmsSite) => `${blog} ${otherBlog}`,
  any: () => 'https://blog.example.com http://localhost:*',
} as const;

/** At how many addresses the blog is. */
export type Addresses = keyof typeof origins;

/** Whether `make` has installed the packages. */
export const isInstalled = Object.values(bundles).every((path) => existsSync(join(packages, path)));

export interface CmsSettings {
  readonly backend?: Backend;
  readonly addresses?: Addresses;
}

/** A blog with a CMS, the relay and GitHub, each a site of its own in a browser's eyes. */
export class CmsSite {
  readonly github = new FakeGitHub();
  readonly blog: string;
  /** Another address with the same files. */
  readonly otherBlog: string;
  readonly relay: string;
  /** The log of the relay. */
  log = '';
  readonly #cms: CmsName;
  readonly #backend: Backend;
  readonly #addresses: Addresses;
  readonly #servings: Serving[] = [];
  #clockOffset = 0;
  #closeRelay = () => {};
  #api = '';

  static async start(cms: CmsName, { backend = 'github', addresses = 'one' }: CmsSettings): Promise<CmsSite> {
    const site = new CmsSite(cms, backend, addresses, [await freePort(), await freePort(), await freePort()]);
    await site.#serve();
    return site;
  }

  private constructor(
    cms: CmsName,
    backend: Backend,
    addresses: Addresses,
    [blogPort, otherPort, relayPort]: readonly [number, number, number],
  ) {
    this.#cms = cms;
    this.#backend = backend;
    this.#addresses = addresses;
    // Sveltia CMS takes no other names without https.
    this.blog = `http://localhost:${blogPort}`;
    this.otherBlog = `http://localhost:${otherPort}`;
    this.relay = `http://127.0.0.1:${relayPort}`;
  }

  get admin(): string {
    return `${this.blog}/admin/`;
  }

  /** Moves the relay's clock. */
  advance(minutes: number): void {
    this.#clockOffset += minutes * 60_000;
  }

  /** An hour later, all tokens have ended. */
  endTokens(): void {
    this.advance(60);
    this.github.endTokens();
  }

  /** Corrects the clock and the provider. */
  forget(): void {
    this.#clockOffset = 0;
    this.github.tokenEndpoint = 'works';
    this.github.tokensEnd = false;
  }

  async close(): Promise<void> {
    this.#closeRelay();
    await Promise.all(this.#servings.map((serving) => serving.close()));
  }

  async #serve(): Promise<void> {
    const github = await serve(this.github.listener);
    const provider = `http://github.localhost:${github.port}`;
    const here = `http://127.0.0.1:${github.port}`;
    this.#api = `http://localhost:${github.port}/api`;
    const flags = {
      port: new URL(this.relay).port,
      baseUrl: this.relay,
      origin: origins[this.#addresses](this),
      tokenDelivery: 'cms',
      refreshTokens: 'bearer',
      providerTimeout: '60',
      scope: scopes[this.#backend],
      provider: this.#backend,
      authorizeUrl: `${provider}/login/oauth/authorize`,
      tokenUrl: `${here}/login/oauth/access_token`,
      userUrl: `${here}/api/v3/user`,
    };
    const now = () => Date.now() + this.#clockOffset;
    const { listener, close } = await createRelayHere(
      flags,
      (line) => {
        this.log += line;
      },
      now,
    );
    this.#closeRelay = close;
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(request, response).catch(() => response.writeHead(404).end());
    };
    this.#servings.push(github, await serve(listener, Number(new URL(this.relay).port)));
    for (const address of [this.blog, this.otherBlog]) {
      this.#servings.push(await serve(answer, Number(new URL(address).port)));
    }
  }

  /** The admin page, its configuration, and the published files. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '', this.blog).pathname;
    const own: Readonly<Record<string, readonly [type: string, text: string]>> = {
      '/admin/': ['text/html', page(bundles[this.#cms])],
      '/admin/config.yml': ['text/yaml', this.#config()],
    };
    const [type, text] = own[path] ?? ['text/javascript', await readFile(packages + path)];
    response.writeHead(200, { 'Content-Type': `${type}; charset=utf-8` }).end(text);
  }

  #config(): string {
    return `backend:
  name: ${this.#backend}
  repo: ada/blog
  branch: main
  base_url: ${this.relay}${this.#backend === 'github' ? '' : '\n  auth_endpoint: auth/provider/app'}
  api_root: ${this.#api}/v3
  graphql_api_root: ${this.#api}/graphql
media_folder: images
collections:
  - name: posts
    label: Posts
    folder: posts
    create: true
    fields:
      - { name: title, label: Title, widget: string }
      - { name: body, label: Body, widget: text }
`;
  }
}

function page(bundle: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<link rel="icon" href="data:,">
<title>The blog's CMS</title>
<body>
<script src="/${bundle}"></script>
</body>
</html>
`;
}

/**
 * Lets the browser send requests only to this machine, because the CMSes ask for fonts and for the status of GitHub.
 */
export async function stayHere(context: BrowserContext): Promise<void> {
  await context.route(
    (url) => !/(^|\.)localhost$|^127\.0\.0\.1$/.test(url.hostname),
    (route) => route.abort(),
  );
}

/** One site for the enclosing `describe`. It is reset before each test. */
export function useCmsSite(cms: CmsName, settings: CmsSettings): () => CmsSite {
  const site = startedOnce(
    'the blog',
    () => CmsSite.start(cms, settings),
    (one) => one.close(),
  );
  afterEach('correct what the test changed', () => site().forget());
  return site;
}
