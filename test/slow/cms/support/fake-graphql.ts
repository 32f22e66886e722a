import type { Repository } from './repository.ts';

const date = '2026-11-01T12:00:00Z';
const author = {
  name: 'Ada Lovelace',
  email: 'ada@blog.example',
  avatarUrl: 'data:,',
  user: { id: 1, login: 'ada' },
};

/** A request of GitHub's GraphQL API. */
interface GraphQlRequest {
  readonly query?: string;
  readonly variables?: { readonly input?: CommitInput };
}

interface CommitInput {
  readonly fileChanges: { readonly additions: readonly { path: string; contents: string }[] };
  readonly message: { readonly headline: string };
}

/** Answers the queries of Sveltia CMS; undefined if it is another one. */
export function answerGraphQl(
  repository: Repository,
  { query = '', variables = {} }: GraphQlRequest,
): object | undefined {
  if (variables.input !== undefined) return createCommit(repository, variables.input);
  const { sha: oid, message } = repository.head;
  const history = { nodes: [{ oid, message, author, committedDate: date }] };
  const commit = { target: { history } };
  const aliases = [...query.matchAll(/(\w+): (object\(oid: "(\w+)"\)|ref\()/g)];
  const answers = aliases.map(([, alias, what = '', sha = '']) => [
    alias,
    what.startsWith('ref') ? commit : { text: repository.blob(sha) },
  ]);
  if (aliases.length > 0) return { data: { repository: Object.fromEntries(answers) } };
  return query.includes('ref(') ? { data: { repository: { ref: commit } } } : undefined;
}

function createCommit(repository: Repository, { fileChanges, message }: CommitInput): object {
  const changes = fileChanges.additions.map(
    ({ path, contents }) =>
      [path, repository.addBlob(Buffer.from(contents, 'base64').toString())] as const,
  );
  const tree = new Map([...repository.head.tree, ...changes]);
  const { sha } = repository.commit(message.headline, tree);
  repository.moveTo(sha);
  const files = changes.map(([, oid], index) => [`file_${index}`, { oid }]);
  const commit = { oid: sha, committedDate: date, ...Object.fromEntries(files) };
  return { data: { createCommitOnBranch: { commit } } };
}
