import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import { limits } from '../../limits.ts';
import type { Position } from '../fault.ts';

/** A YAML document without syntax errors. */
export type Yaml = ReturnType<typeof createYaml>;

/** Reports a message at a place of the file. Returns undefined, so that a reader can return it as its result. */
export type ReportAt = (position: Position, message: string) => undefined;

const start: Position = { line: 1, column: 1 };

/**
 * Parses a YAML document. Faults never quote its text, because any part may be a secret.
 *
 * @returns undefined after reporting faults
 * @see YAML 1.2.2
 */
export function parseYaml(text: string, report: ReportAt): Yaml | undefined {
  if (Buffer.byteLength(text) > limits.configFileSize) {
    return report(start, `is larger than ${limits.configFileSize / 1024} KiB`);
  }
  // This character replaces bytes that are not UTF-8 when a file is read.
  if (text.includes('\uFFFD')) return report(start, 'is not UTF-8');
  const lines = new LineCounter();
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return line === 0 ? start : { line, column: col };
  };
  const document = parseDocument(text, {
    // The version that the file claims does not count: in YAML 1.1, `no` would be a boolean.
    schema: 'core',
    resolveKnownTags: false,
    // The library's check takes time that grows with the square of the number of keys.
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
  });
  const faults = findSyntaxFaults(document, text);
  // Only the first faults are reported, because one mistake can cause a fault in every line that follows.
  for (const [offset, message] of faults.slice(0, 10)) report(positionAt(offset), message);
  return faults.length > 0 ? undefined : createYaml(document, positionAt, report);
}

/** Finds the syntax errors with their offsets. Only the first error of a line counts, because others follow from it. */
function findSyntaxFaults(document: Document.Parsed, text: string): readonly [offset: number, string][] {
  const faults = new Map<number, [number, string]>();
  // The library only warns about tags and directives that it does not know.
  for (const error of [...document.errors, ...document.warnings]) {
    const [offset] = error.pos;
    const startOfLine = text.lastIndexOf('\n', offset - 1) + 1;
    if (faults.has(startOfLine)) continue;
    const [indent = ''] = /[ \t]*/y.exec(text.slice(startOfLine)) ?? [];
    const message = messages[error.code] ?? 'is not valid YAML';
    faults.set(startOfLine, [offset, indent.includes('\t') ? indentedWithTab : message]);
  }
  if (faults.size === 0) return findTooManyAliases(document);
  const found = [...faults.values()];
  // After wrong indentation, the library misreads the lines that follow.
  const indentation = found.findIndex(([, message]) => message === indentedWithTab || message === wrongIndentation);
  return indentation === -1 ? found : found.slice(0, indentation + 1);
}

/** Finds the first alias beyond the limit, because nested aliases multiply: a small file could take minutes to read. */
function findTooManyAliases(document: Document.Parsed): readonly [offset: number, string][] {
  const offsets: number[] = [];
  visit(document, { Alias: (_, { range }) => void offsets.push(range?.[0] ?? 0) });
  const beyond = offsets[limits.configFileAliases];
  return beyond === undefined ? [] : [[beyond, `has more than ${limits.configFileAliases} aliases`]];
}

const wrongIndentation = 'has the wrong indentation, or a bracket before it is not closed';
const indentedWithTab = 'is indented with a tab: use spaces';
const messages: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  TAB_AS_INDENT: indentedWithTab,
  BAD_INDENT: wrongIndentation,
  BAD_ALIAS: 'has an alias without a name',
  BAD_DIRECTIVE: 'has a directive that is not supported',
  BAD_DQ_ESCAPE: 'has an unknown escape sequence after a backslash: use single quotes',
  BLOCK_AS_IMPLICIT_KEY: 'has two keys on one line: check the line for a second colon',
  KEY_OVER_1024_CHARS: 'has a key of more than 1024 characters',
  MISSING_CHAR: 'is incomplete: a quote, bracket, comma or colon is missing here or before',
  MULTIPLE_DOCS: 'starts a second document: a file must have only one',
  RESOURCE_EXHAUSTION: 'is nested too deeply',
  TAG_RESOLVE_FAILED: 'has a tag: the file must have none',
};

/** A pair of a map, with a key that no other pair of the map has. */
export interface Pair {
  readonly key: string;
  readonly position: Position;
  /** Never an alias; undefined if there is nothing after the key. */
  readonly value: Node | undefined;
}

/** Wraps a parsed document, so that its readers see no alias. */
function createYaml(document: Document.Parsed, positionAt: (offset: number) => Position, report: ReportAt) {
  const positionOf = (node: unknown) => positionAt((isNode(node) && node.range?.[0]) || 0);
  const resolveAlias = (node: unknown): Node | undefined => {
    if (isAlias(node)) return node.resolve(document);
    return isNode(node) ? node : undefined;
  };
  return {
    /** The top of the document. Never an alias. */
    content: resolveAlias(document.contents),
    /** Where a node begins; the start of the file if it is no node. */
    positionOf,
    /** The node that an alias stands for, or the node itself; undefined for an alias without a target. */
    resolveAlias,
    /** The pairs of a map; none if it is something else. Reports keys that are repeated, or that are not strings. */
    readPairs(node: unknown): readonly Pair[] {
      const pairs = new Map<string, Pair>();
      for (const { key: keyNode, value } of isMap(node) ? node.items : []) {
        const position = positionOf(keyNode ?? node);
        const key = isScalar(keyNode) ? keyNode.value : undefined;
        const earlier = typeof key === 'string' ? pairs.get(key) : undefined;
        if (typeof key !== 'string') {
          report(position, 'is a key that is not a string: put it in quotes');
        } else if (earlier !== undefined) {
          report(position, `repeats a key of line ${earlier.position.line}`);
        } else {
          pairs.set(key, { key, position, value: resolveAlias(value) });
        }
      }
      return [...pairs.values()];
    },
  };
}
