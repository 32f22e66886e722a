import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { answerGraphQl } from './fake-graphql.ts';
import { Repository } from './repository.ts';

/** What the token endpoint does: `down` breaks the connection. */
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
 * GitHub, as far as Decap CMS and Sveltia CMS use it: a login, and one repository that `ada` can write. GitLab and
 * Bitbucket, as far as their logins go.
 */
export class FakeGitHub {
  repository = new Repository();
  tokenEndpoint: TokenEndpoint = 'works';
  /** What the API was asked with a token, as `GET /user`. */
  calls: string[] = [];
  /** The scopes of the logins that were started. */
  scopes: (string | null)[] = [];
  /** What the API cannot answer. */
  readonly unknown: string[] = [];
  readonly tokens: string[] = [];
  readonly #codes = new Set<string>();

  readonly listener = (request: IncomingMessage, response: ServerResponse): void => {
    this.#answer(request, response).catch((error) => {
      this.unknown.push(String(error));
      response.destroy();
    });
  };

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://github.localhost');
    if (url.pathname === '/login/oauth/authorize') this.#authorize(url, response);
    else if (url.pathname === '/login/oauth/access_token') {
      this.#exchange(url.search || (await text(request)), response);
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
    this.#codes.add(code);
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
    response.end(`<!doctype html><title>GitHub</title><h1>Authorize the blog?</h1>
<a href="${back({ code })}">Authorize</a> <a href="${back({ error: 'access_denied' })}">Cancel</a>`);
  }

  /** @param sent the parameters: GitHub takes them in the query, the others in the body */
  #exchange(sent: string, response: ServerResponse): void {
    if (this.tokenEndpoint === 'down') {
      response.destroy();
      return;
    }
    const isKnown = this.#codes.delete(new URLSearchParams(sent).get('code') ?? '');
    if (this.tokenEndpoint === 'refuses' || !isKnown) {
      send(response, 200, { error: 'bad_verification_code' });
      return;
    }
    const token = `gho_${randomBytes(18).toString('hex')}`;
    this.tokens.push(token);
    send(response, 200, { access_token: token, token_type: 'bearer' });
  }

  async #answerApi(request: IncomingMessage, url: URL, response: ServerResponse): Promise<void> {
    const [, token = ''] = request.headers.authorization?.split(' ') ?? [];
    if (!this.tokens.includes(token)) {
      send(response, 401, { message: 'Bad credentials' });
      return;
    }
    const call = `${request.method} ${decodeURIComponent(url.pathname)}`;
    this.calls.push(call);
    const sent: unknown = request.method === 'GET' ? {} : await json(request);
    const answer = call.endsWith('/api/graphql')
      ? answerGraphQl(this.repository, Object(sent))
      : this.#answerRest(call, Object(sent));
    if (answer === undefined) this.unknown.push(`${call} ${JSON.stringify(sent)}`);
    send(response, answer === undefined ? 404 : 200, answer ?? { message: 'Not Found' });
  }

  #answerRest(call: string, sent: Sent): object | undefined {
    if (call === 'GET /api/v3/user') return person;
    const [, method, path = ''] = /^(\w+) \/api\/v3\/repos\/ada\/blog(.*)$/.exec(call) ?? [];
    if (method === 'GET') return answerRead(this.repository, path);
    if (method === 'POST') return answerAdd(this.repository, path, sent);
    if (method !== 'PATCH' || path !== '/git/refs/heads/main') return undefined;
    this.repository.moveTo(`${sent.sha}`);
    return { object: { sha: sent.sha } };
  }
}

/** Answers what reads the repository. */
function answerRead(repository: Repository, path: string): object | undefined {
  if (path === '') {
    const owner = { login: person.login };
    return { owner, default_branch: 'main', permissions: { push: true } };
  }
  const { head } = repository;
  const commit = { author: { name: person.name, date: '2026-11-01T12:00:00Z' } };
  if (path === '/collaborators/ada') return {};
  if (path === '/branches/main') return { name: 'main', commit: { sha: head.sha } };
  if (path === '/commits') return [{ sha: head.sha, commit }];
  const [, kind, name = ''] = /^\/git\/(trees|blobs)\/(.+)$/.exec(path) ?? [];
  if (kind === 'trees') return treeOf(repository, name);
  const content = kind === 'blobs' ? repository.blob(name) : undefined;
  return content === undefined ? undefined : { content: base64(content), encoding: 'base64' };
}

/** @param name a commit, a tree or a branch, with the folder after a colon */
function treeOf(repository: Repository, name: string): object | undefined {
  const [whole = '', folder] = name.split(':');
  const prefix = folder ? `${folder}/` : '';
  const files = [...(repository.tree(whole) ?? [])].filter(([path]) => path.startsWith(prefix));
  const tree = files.map(([path, sha]) => ({
    type: 'blob',
    path: path.slice(prefix.length),
    sha,
    size: repository.blob(sha)?.length,
  }));
  return tree.length === 0 ? undefined : { tree };
}

/** Answers what adds an object to the repository. */
function answerAdd(repository: Repository, path: string, sent: Sent): object | undefined {
  switch (path) {
    case '/git/blobs':
      return { sha: repository.addBlob(Buffer.from(`${sent.content}`, 'base64').toString()) };
    case '/git/trees': {
      const base = repository.tree(`${sent.base_tree}`) ?? new Map();
      const changes = new Map((sent.tree ?? []).map((file) => [file.path, file.sha]));
      return { sha: repository.addTree(base, changes) };
    }
    case '/git/commits': {
      const tree = repository.tree(`${sent.tree}`) ?? new Map();
      return { sha: repository.commit(`${sent.message}`, tree).sha };
    }
    default:
      return undefined;
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** What the CMSes send, of all their requests. */
interface Sent {
  readonly content?: string;
  readonly base_tree?: string;
  readonly tree?: readonly { path: string; sha: string }[];
  readonly message?: string;
  readonly sha?: string;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...cors });
  response.end(JSON.stringify(body));
}
