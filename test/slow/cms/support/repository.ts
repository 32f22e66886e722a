import { hash } from 'node:crypto';

/** The files of a commit or a tree, by path, with the names of their contents. */
type Tree = ReadonlyMap<string, string>;

interface Commit {
  readonly sha: string;
  readonly message: string;
  readonly tree: Tree;
}

const post = '---\ntitle: Hello\n---\nThe first post.\n';

/** A Git repository with one branch, `main`, and one post. */
export class Repository {
  readonly #blobs = new Map<string, string>();
  readonly #trees = new Map<string, Tree>();
  readonly #commits = new Map<string, Commit>();
  #head: Commit;

  constructor() {
    this.#head = this.commit('First post', new Map([['posts/hello.md', this.addBlob(post)]]));
  }

  get head(): Commit {
    return this.#head;
  }

  /** The text of a file on `main`; undefined if there is none. */
  read(path: string): string | undefined {
    return this.blob(this.#head.tree.get(path) ?? '');
  }

  blob(sha: string): string | undefined {
    return this.#blobs.get(sha);
  }

  /** The files of a tree, a commit or `main`; undefined if it is unknown. */
  tree(name: string): Tree | undefined {
    if (name === 'main') return this.#head.tree;
    return this.#trees.get(name) ?? this.#commits.get(name)?.tree;
  }

  addBlob(content: string): string {
    const sha = hash('sha1', `blob ${content}`);
    this.#blobs.set(sha, content);
    return sha;
  }

  /** Adds a tree: the files of another one, and those that are changed. */
  addTree(base: Tree, changes: Tree): string {
    const tree = new Map([...base, ...changes]);
    const sha = hash('sha1', `tree ${JSON.stringify([...tree])}`);
    this.#trees.set(sha, tree);
    return sha;
  }

  commit(message: string, tree: Tree): Commit {
    const content = JSON.stringify([message, [...tree], this.#commits.size]);
    const commit = { sha: hash('sha1', `commit ${content}`), message, tree };
    this.#commits.set(commit.sha, commit);
    return commit;
  }

  /** Moves `main` to a commit. */
  moveTo(sha: string): void {
    const commit = this.#commits.get(sha);
    if (commit === undefined) throw new Error('no such commit');
    this.#head = commit;
  }
}
