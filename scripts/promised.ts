// The lists that docs/compatibility.md promises, as the code has them. Run, it writes the frozen copy:
// scripts/node scripts/promised.ts
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { createProgram } from '../src/cli/program.ts';
import { options } from '../src/config/settings/settings.ts';
import { configFileSchema } from '../src/config/shown/schema.ts';
import { failureCodes, RelayError } from '../src/failures/relay-error.ts';
import { defaultCallbackPath, pathOfCheck, paths } from '../src/paths.ts';
import { buildIdentityHeaders } from '../src/resources/identity-headers.ts';
import { version } from '../src/version.ts';

export type Lists = Readonly<Record<string, readonly string[]>>;

const root = new URL('../', import.meta.url);
const frozenFile = new URL('test/project/promised.json', root);
const textOf = (path: string) => readFileSync(new URL(path, root), 'utf8');
const found = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, one = '']) => one);

/** The frozen copy of the promised lists. */
export const frozenLists = (): Lists => JSON.parse(readFileSync(frozenFile, 'utf8'));

/** The lists of the present code, each sorted. */
export function presentLists(): Lists {
  const lists = {
    'actions in the log': found(after('src/http/context.ts', 'type Action =', ';'), /'([a-z-]+)'/g),
    'commands, with their actions': commands(),
    endpoints: endpoints(),
    'error codes, with status and error of OAuth': failureCodes.map((code) => {
      const { status, oauthError } = new RelayError(code);
      return `${code} ${status} ${oauthError}`;
    }),
    'exit codes': found(after('src/cli/commands/manual.md', '# EXIT STATUS', '# '), /^(\d)$/gm),
    'fields of the log': cells('| field | meaning |').flatMap((cell) => found(cell, /`([\w.]+)`/g)),
    'flags, with their variables': Object.values(options).map(({ flag, variable }) => `${flag} ${variable}`),
    'headers to an application': Object.keys(buildIdentityHeaders({ sub: '' })),
    // The texts of pages are not promised, so their keys are not.
    'keys and values of the file': keysOf(configFileSchema()).filter((key) => !key.startsWith('pages.texts.')),
    'metrics, with their labels': cells('| metric and its labels | meaning |').map((cell) => cell.replaceAll('`', '')),
    'parameters of a start': parametersOfStart(),
    'parameters of bodies': found(after('src/oauth/endpoint-parameters.ts', 'const parameterNames =', ']'), /'(\w+)'/g),
    'subjects of check': globSync('src/check/**/*.ts', { cwd: root.pathname }).flatMap((file) =>
      found(textOf(file), /findingsOn\('([^']+)'\)/g),
    ),
    'the browser client': declarations(),
  };
  return Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, [...new Set(list)].sort()]));
}

/** The differences between two copies, each as a line with the name of its list. */
export function differences(promised: Lists, present: Lists) {
  const lines = (lists: Lists) => Object.entries(lists).flatMap(([name, list]) => list.map((one) => `${name}: ${one}`));
  const before = new Set(lines(promised));
  const now = new Set(lines(present));
  return { gone: [...before.difference(now)], added: [...now.difference(before)] };
}

function after(file: string, start: string, end: string): string {
  return textOf(file).split(start)[1]?.split(end)[0] ?? '';
}

function commands(): string[] {
  const program = createProgram({}, () => {});
  return program
    .createHelp()
    .visibleCommands(program)
    .flatMap((command) => {
      const choices = command.registeredArguments[0]?.argChoices ?? [];
      if (command.name() === 'help') return ['help'];
      return [command.name(), ...choices.map((choice) => `${command.name()} ${choice}`)];
    });
}

function endpoints(): string[] {
  const ofLogins = found(textOf('src/relay/endpoints.ts'), /path: `\$\{path\}(\/\w+)`/g);
  return [
    ...Object.values(paths).map((path) => path.replace(version, '<version>')),
    ...['', '/<front end>', ...ofLogins].map((below) => `/auth/<provider>${below}`),
    defaultCallbackPath('<provider>'),
    pathOfCheck('<resource>'),
    ...globSync('src/routes/*.ts', { cwd: root.pathname }).flatMap((file) =>
      found(textOf(file), /['`](\/\.well-known\/[a-z-]+)/g),
    ),
  ];
}

/** The parameters that a start reads from its query, as its sources name them. */
function parametersOfStart(): string[] {
  const source = ['oauth/start-parameters', 'oauth/scope', 'routes/start-login', 'front-ends/front-ends']
    .map((name) => textOf(`src/${name}.ts`))
    .join('\n');
  const taken = found(source, /\{ ([\w, :]+) \}(?:: Query| = query| = truncatedQuery)/g).flatMap((names) =>
    names.split(',').map((name) => name.split(':')[0]?.trim() ?? ''),
  );
  return [...taken, ...found(source, /(?:query|asked|truncatedQuery\(ctx\))\['(\w+)'\]/g)];
}

/** The first cells of a table of docs/operations.md. Another test compares it with a running relay. */
function cells(head: string): string[] {
  const table = after('docs/operations.md', `\n${head}\n`, '\n\n');
  return found(table, /^\| (`.*?`) \|/gm);
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
}

function keysOf(schema: Schema, place = ''): string[] {
  const { properties = {}, additionalProperties: named, items, anyOf = [] } = schema;
  const values = schema.enum?.map((value) => `${place} = ${value}`) ?? [];
  const inner = Object.entries(properties).flatMap(([key, value]) => {
    const key_ = place === '' ? key : `${place}.${key}`;
    return [key_, ...keysOf(value, key_)];
  });
  return [
    ...values,
    ...inner,
    ...(typeof named === 'object' ? keysOf(named, `${place}.<name>`) : []),
    ...(items === undefined ? [] : keysOf(items, `${place}[]`)),
    ...anyOf.flatMap((one) => keysOf(one, place)),
  ];
}

/** The declarations of client.d.ts: each member of an interface or class, each value of a union, each function. */
function declarations(): string[] {
  const text = textOf('client/client.d.ts')
    .replaceAll(/\/\*.*?\*\/|\/\/[^\n]*/gs, '')
    .replaceAll(/\s+/g, ' ');
  const members = [...text.matchAll(/export (?:interface|class) (\w+).*?\{(.*?)\}/g)];
  const unions = [...text.matchAll(/export type (\w+) = (.*?);/g)];
  return [
    ...found(text, /export (function .*?);/g),
    ...members.flatMap(([, name, body = '']) => split(body, ';').map((one) => `${name}: ${one}`)),
    ...unions.flatMap(([, name, body = '']) => split(body, '|').map((one) => `${name}: ${one}`)),
  ];
}

const split = (text: string, separator: string) =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');

if (import.meta.main) {
  const present = presentLists();
  const { gone, added } = differences(frozenLists(), present);
  writeFileSync(frozenFile, `${JSON.stringify(present, undefined, 2)}\n`);
  const lines = [...gone.map((line) => `- ${line}\n`), ...added.map((line) => `+ ${line}\n`)];
  process.stdout.write(lines.join(''));
}
