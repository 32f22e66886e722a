import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import { limits } from '../../limits.ts';
import type { Position } from '../fault.ts';

/** A YAML document without faults of syntax. */
export interface Yaml {
  readonly document: Document.Parsed;
  /** Where the character with this number is; 0 is the first. */
  readonly positionAt: (offset: number) => Position;
}

/** Reports a fault at a place in the file. */
export type ReportAt = (position: Position, message: string) => undefined;

const start: Position = { line: 1, column: 1 };

/** The most faults of syntax that are reported: one mistake can make all that follows wrong. */
const mostFaults = 10;

/**
 * Parses a YAML document. Nothing of its text gets into a fault: any part of it may be a secret.
 *
 * @returns undefined after reporting faults
 * @see YAML 1.2.2
 */
export function parseYaml(text: string, report: ReportAt): Yaml | undefined {
  const unreadable = whyUnreadable(text);
  if (unreadable !== undefined) return report(start, unreadable);
  const lines = new LineCounter();
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return line === 0 ? start : { line, column: col };
  };
  const document = parseDocument(text, {
    // Also if the file says that it is YAML 1.1, in which `no` is a boolean.
    schema: 'core',
    resolveKnownTags: false,
    // The library's check takes time that grows with the square of the number of keys.
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
  });
  const faults = syntaxFaults(document, text);
  for (const [offset, message] of faults.slice(0, mostFaults)) report(positionAt(offset), message);
  return faults.length > 0 ? undefined : { document, positionAt };
}

function whyUnreadable(text: string): string | undefined {
  if (Buffer.byteLength(text) > limits.configFileSize) {
    return `is larger than ${limits.configFileSize / 1024} KiB`;
  }
  // In a text from a file, this character replaces bytes that are not UTF-8.
  return text.includes('\uFFFD') ? 'is not UTF-8' : undefined;
}

/** What is wrong, and after how many characters. One fault a line: others only follow from it. */
function syntaxFaults(document: Document.Parsed, text: string): [offset: number, string][] {
  const faults = new Map<number, [number, string]>();
  const add = (offset: number, message: string) => {
    const line = text.lastIndexOf('\n', offset - 1);
    if (!faults.has(line)) faults.set(line, [offset, message]);
  };
  // The library warns of tags and directives that it does not know.
  for (const error of [...document.errors, ...document.warnings]) {
    const [offset] = error.pos;
    const [indent = ''] = /[ \t]*/y.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1)) ?? [];
    add(offset, indent.includes('\t') ? messages.TAB_AS_INDENT : messageOf(error));
  }
  const aliases = faults.size === 0 ? aliasesOf(document) : [];
  const beyond = aliases[limits.configFileAliases];
  if (beyond !== undefined) add(beyond, `has more than ${limits.configFileAliases} aliases`);
  const found = [...faults.values()];
  // After wrong indentation, the library takes the lines that follow for something else.
  const indentation = found.findIndex(([, message]) => indentationFaults.has(message));
  return indentation === -1 ? found : found.slice(0, indentation + 1);
}

function aliasesOf(document: Document.Parsed): number[] {
  const offsets: number[] = [];
  visit(document, { Alias: (_, { range }) => void offsets.push(range?.[0] ?? 0) });
  return offsets;
}

const messages = {
  TAB_AS_INDENT: 'is indented with a tab: use spaces',
  BAD_INDENT: 'has the wrong indentation, or a bracket before it is not closed',
  BAD_ALIAS: 'has an alias without a name',
  BAD_DIRECTIVE: 'has a directive that is not supported',
  BAD_DQ_ESCAPE: 'has an unknown escape sequence after a backslash: use single quotes',
  BLOCK_AS_IMPLICIT_KEY: 'has two keys on one line: check the line for a second colon',
  KEY_OVER_1024_CHARS: 'has a key of more than 1024 characters',
  MISSING_CHAR: 'is incomplete: a quote, bracket, comma or colon is missing here or before',
  MULTIPLE_DOCS: 'starts a second document: a file must have only one',
  RESOURCE_EXHAUSTION: 'is nested too deeply',
  TAG_RESOLVE_FAILED: 'has a tag: the file must have none',
} satisfies Partial<Record<YAMLError['code'], string>>;

const indentationFaults: ReadonlySet<string> = new Set([
  messages.TAB_AS_INDENT,
  messages.BAD_INDENT,
]);

function messageOf({ code }: YAMLError): string {
  return code in messages ? messages[code as keyof typeof messages] : 'is not valid YAML';
}

/** A pair of a map, with a key that no other pair of the map has. */
export interface Pair {
  readonly key: string;
  readonly position: Position;
  /** Undefined: there is nothing after the key. Never an alias. */
  readonly value: Node | undefined;
}

/** What an alias stands for, or the node itself. Undefined: an alias of nothing. */
export function resolved(node: unknown, { document }: Yaml): Node | undefined {
  if (isAlias(node)) return node.resolve(document);
  return isScalar(node) || isMap(node) || isSeq(node) ? node : undefined;
}

/** The pairs of a map; none if it is something else. Reports keys that are repeated, or that are not strings. */
export function pairsOf(node: unknown, yaml: Yaml, report: ReportAt): readonly Pair[] {
  const pairs = new Map<string, Pair>();
  for (const { key: keyNode, value } of isMap(node) ? node.items : []) {
    const position = positionOf(keyNode ?? node, yaml);
    const key = isScalar(keyNode) ? keyNode.value : undefined;
    const earlier = typeof key === 'string' ? pairs.get(key) : undefined;
    if (typeof key !== 'string') {
      report(position, 'is a key that is not a string: put it in quotes');
    } else if (earlier !== undefined) {
      report(position, `repeats a key of line ${earlier.position.line}`);
    } else {
      pairs.set(key, { key, position, value: resolved(value, yaml) });
    }
  }
  return [...pairs.values()];
}

/** Where a node begins. */
export function positionOf(node: unknown, { positionAt }: Yaml): Position {
  const hasRange = isAlias(node) || isScalar(node) || isMap(node) || isSeq(node);
  return positionAt((hasRange && node.range?.[0]) || 0);
}
