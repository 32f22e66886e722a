import { takesList } from '../../config/file/entries.ts';
import type { Level } from '../../config/settings/setting.ts';
import { type FileSetting, fileSettings } from '../../config/settings/settings.ts';
import { limits } from '../../limits.ts';
import { version } from '../../version.ts';
import { example, fold, item, literal, placeholder, section, sentence, text } from './roff.ts';

/**
 * The manual page of the configuration file in roff, as man(1) reads it.
 *
 * @param date the day that the page carries, as `2026-11-21`
 * @see man-pages(7), groff_man(7)
 */
export function fileManualPage(name: string, date: string): string {
  const title = `${name.toUpperCase()}.YAML`;
  const page = [
    `.TH ${title} 5 ${date} "${name} ${version}" "File Formats"\n.nh\n`,
    section('NAME', `${text(`${name}.yaml`)} \\- configuration file of ${text(name)}`),
    section('SYNOPSIS', `${literal(`${name} --config`)} ${placeholder('path')}`),
    section('DESCRIPTION', description()),
    section('SETTINGS OF THE RELAY', settings('relay')),
    section('PROVIDERS', providers() + settings('providers')),
    section('FRONT ENDS', frontEnds() + settings('front-ends')),
    section('PROXY', proxy() + settings('proxy')),
    section('EXAMPLES', examples(name)),
    section('SEE ALSO', `.BR ${text(name)} (1)`),
  ];
  return fold(page.join(''));
}

function description(): string {
  return `The file is YAML 1.2, in UTF\\-8, of at most ${limits.configFileSize / 1024} KiB.
It describes any number of providers and front ends, and the relay that they share.
Its keys are the names of the flags, without dashes.
If a flag can be given several times, its key is a plural and takes a list.
.PP
Flags and environment variables override the settings of the relay.
Flags and variables of a provider or a front end are a fault if the file has providers or front ends.
.PP
Paths are relative to the directory of the file.
Keep each secret in a file of its own.
.PP
Anchors, aliases and merged maps (${literal('<<: *name')}) are allowed.
Tags, repeated keys, tabs as indentation and a second document are faults.
The relay reports all faults at once, each with its line and column.`;
}

function providers(): string {
  return `${literal('providers')} is a map of at most ${limits.registrations} entries.
The name of an entry is the word in ${literal('/auth/')}${placeholder('name')} and
${literal('/auth/')}${placeholder('name')}${literal('/callback')}: 1 to 64 letters, digits, hyphens or underscores.
`;
}

function frontEnds(): string {
  return `${literal('front-ends')} is a map of at most ${limits.frontEnds} entries.
The name of an entry is the ${literal('client_id')} of the front end: 1 to 64 letters, digits, hyphens or underscores.
`;
}

function proxy(): string {
  return `${literal('proxy')} of a front end whose ${literal('token-delivery')} is ${literal('session')} is a list of at most
${limits.apisOfFrontEnd} maps.
Each lets pages use a part of a provider's API with the access token of their session, which they do not see.
`;
}

function settings(level: Level): string {
  return fileSettings[level].map(settingItem).join('');
}

function settingItem(setting: FileSetting): string {
  const { key, argument, help, otherwise, default: value } = setting;
  const type = argument?.slice(1, -1) ?? 'true or false';
  const list = takesList(setting) ? ', or a list' : '';
  const tag = `${literal(`${key}:`)} ${placeholder(type)}${list}`;
  return item(tag, sentence(help), absent(otherwise, value));
}

function absent(otherwise: string | undefined, value: string | undefined): string {
  if (otherwise === undefined) return `Default: ${literal(value ?? 'none')}.`;
  return otherwise.startsWith('required') ? sentence(otherwise) : `Default: ${text(otherwise)}.`;
}

function examples(name: string): string {
  return `One page that logs in with GitHub:
${example(
  'base-url: https://login.example.com',
  'key-file: /etc/login-relay/key',
  'providers:',
  '  github:',
  '    client-id: Iv1.0123456789abcdef',
  '    client-secret-file: /etc/login-relay/github',
  'front-ends:',
  '  app:',
  '    origin: https://app.example.com',
)}.PP
Check a file, and show the configuration in effect:
${example(
  `${name} config check --config /etc/login-relay/config.yaml`,
  `${name} config print --config /etc/login-relay/config.yaml`,
)}.PP
Let an editor check the file while you type, with the YAML language server:
${example(
  `${name} config schema >login-relay.schema.json`,
  '# yaml-language-server: $schema=login-relay.schema.json',
)}`;
}
