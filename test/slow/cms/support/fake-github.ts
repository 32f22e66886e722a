import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** The behaviour of the token endpoint. With `down`, it breaks the connection. */
type TokenEndpoint = 'works' | 'refuses' | 'down';

const cors = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST, PATCH, PUT, DELETE',
};

const person = {
  id: 1,
  login: 'ada',
  name: 'Ada Lovelace',
  email: 'ada@blog.example',
  html_url: 'https://github.example/ada',
  avatar_url: 'data:,',
};

/**
 * GitHub, as far as Decap CMS and Sveltia CMS use it: a login, and one repository that `ada` can read. GitLab and
 * Bitbucket, as far as their logins go.
 */
export class FakeGitHub {
  tokenEndpoint: TokenEndpoint = 'works';
  /** Whether it gives refresh tokens, and says that tokens end in an hour. */
  tokensEnd = false;
  /** How often a token was refreshed. */
  refreshes = 0;
  /** Calls of the API that were refused: their token had ended. */
  refusals = 0;
  /** Refreshes are answered after this promise. */
  patience: Promise<void> | undefined;
  /** The texts that were committed. */
  commits: string[] = [];
  /** The requests to the API with a token, as `GET /user`. */
  calls: string[] = [];
  /** The scopes of the logins that were started. */
  scopes: (string | null)[] = [];
  readonly tokens: string[] = [];
  /** Codes and refresh tokens. Each works once. */
  readonly #grants = new Set<string>();
  readonly #endedTokens = new Set<string>();

  readonly listener = (request: IncomingMessage, response: ServerResponse): void => {
    this.#answer(request, response).catch(() => response.destroy());
  };

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://github.localhost');
    if (url.pathname === '/login/oauth/authorize') this.#authorize(url, response);
    else if (url.pathname === '/login/oauth/access_token') {
      await this.#exchange(url.search || (await text(request)), response);
    } else if (request.method === 'OPTIONS') {
      const asked = request.headers['access-control-request-headers'] ?? '';
      response.writeHead(204, { ...cors, 'Access-Control-Allow-Headers': asked }).end();
    } else await this.#answerApi(request, url, response);
  }

  /** The page that asks for consent. */
  #authorize(url: URL, response: ServerResponse): void {
    this.scopes.push(url.searchParams.get('scope'));
    const back = (parameters: Record<string, string>) => {
      const state = url.searchParams.get('state') ?? '';
      const query = new URLSearchParams({ ...parameters, state });
      return `${url.searchParams.get('redirect_uri')}?${query}`.replaceAll('&', '&amp;');
    };
    const code = randomBytes(10).toString('hex');
    this.#grants.add(code);
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
    response.end(`<!doctype html><title>GitHub</title><h1>Authorize the blog?</h1>
<a href="${back({ code })}">Authorize</a> <a href="${back({ error: 'access_denied' })}">Cancel</a>`);
  }

  /** @param sent the parameters: GitHub takes them in the query, the others in the body */
  async #exchange(sent: string, response: ServerResponse): Promise<void> {
    if (this.tokenEndpoint === 'down') {
      response.destroy();
      return;
    }
    const parameters = new URLSearchParams(sent);
    const refreshToken = parameters.get('refresh_token');
    if (refreshToken !== null) {
      this.refreshes += 1;
      await this.patience;
    }
    const isKnown = this.#grants.delete(refreshToken ?? parameters.get('code') ?? '');
    if (this.tokenEndpoint === 'refuses' || !isKnown) {
      send(response, 200, { error: 'bad_verification_code' });
      return;
    }
    const token = `gho_${randomBytes(18).toString('hex')}`;
    this.tokens.push(token);
    const granted = { access_token: token, token_type: 'bearer' };
    if (!this.tokensEnd) {
      send(response, 200, granted);
      return;
    }
    const next = `ghr_${randomBytes(18).toString('hex')}`;
    this.#grants.add(next);
    send(response, 200, { ...granted, expires_in: 3600, refresh_token: next });
  }

  /** Ends all tokens. */
  endTokens(): void {
    for (const token of this.tokens) this.#endedTokens.add(token);
  }

  async #answerApi(request: IncomingMessage, url: URL, response: ServerResponse): Promise<void> {
    const [, token = ''] = request.headers.authorization?.split(' ') ?? [];
    if (!this.tokens.includes(token) || this.#endedTokens.has(token)) {
      this.refusals += 1;
      send(response, 401, { message: 'Bad credentials' });
      return;
    }
    const call = `${request.method} ${decodeURIComponent(url.pathname)}`;
    this.calls.push(call);
    const sent = await text(request);
    const { input } = sent === '' ? {} : (JSON.parse(sent).variables ?? {});
    for (const { contents } of input?.fileChanges.additions ?? []) {
      this.commits.push(Buffer.from(contents, 'base64').toString());
    }
    const answer = call.endsWith('/api/graphql') ? answerGraphQl(sent) : answerRest(call);
    send(response, answer === undefined ? 404 : 200, answer ?? { message: 'Not Found' });
  }
}

const post = '---\ntitle: Hello\n---\nThe first post.\n';
const sha = { commit: 'c'.repeat(40), post: 'b'.repeat(40) };
const date = '2026-11-01T12:00:00Z';

/** Answers what reads the repository: one commit on `main`, with one post. */
function answerRest(call: string): object | undefined {
  if (call === 'GET /api/v3/user') return person;
  const [, path = 'none'] = /^GET \/api\/v3\/repos\/ada\/blog(.*)$/.exec(call) ?? [];
  if (path === '') {
    const owner = { login: person.login };
    return { owner, default_branch: 'main', permissions: { push: true } };
  }
  const commit = { author: { name: person.name, date } };
  if (path === '/collaborators/ada') return {};
  if (path === '/branches/main') return { name: 'main', commit: { sha: sha.commit } };
  if (path === '/commits') return [{ sha: sha.commit, commit }];
  const [, tree] = /^\/git\/trees\/(.+)$/.exec(path) ?? [];
  if (tree !== undefined) {
    const name = tree.endsWith(':posts') ? 'hello.md' : 'posts/hello.md';
    return { tree: [{ type: 'blob', path: name, sha: sha.post, size: post.length }] };
  }
  if (path !== `/git/blobs/${sha.post}`) return undefined;
  return { content: Buffer.from(post).toString('base64'), encoding: 'base64' };
}

/** Answers the queries of Sveltia CMS, or returns undefined for any other query. */
function answerGraphQl(sent: string): object | undefined {
  const author = { ...person, avatarUrl: person.avatar_url, user: person };
  const node = { oid: sha.commit, message: 'First post', author, committedDate: date };
  const commit = { target: { history: { nodes: [node] } } };
  const { query = '' } = JSON.parse(sent);
  if (query.includes('createCommitOnBranch')) {
    const saved = { oid: sha.commit, committedDate: date, file_0: { oid: sha.post } };
    return { data: { createCommitOnBranch: { commit: saved } } };
  }
  const aliases = [...query.matchAll(/(\w+): (object\(|ref\()/g)].map(([, alias, what]) => [
    alias,
    what === 'ref(' ? commit : { text: post },
  ]);
  if (aliases.length > 0) return { data: { repository: Object.fromEntries(aliases) } };
  return query.includes('ref(') ? { data: { repository: { ref: commit } } } : undefined;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...cors });
  response.end(JSON.stringify(body));
}
