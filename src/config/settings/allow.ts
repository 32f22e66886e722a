import * as v from 'valibot';
import { typed } from '../schemas.ts';
import { fileRowsOf } from './setting.ts';

const longestName = 255;
const visible = /^[^\p{C}]+$/u;

/** Texts with line breaks between them. */
function texts(pattern: RegExp, message: string) {
  return v.pipe(
    v.string(),
    v.transform((given) => given.split('\n')),
    v.check(
      (names) =>
        names.every(
          (name) => visible.test(name) && name.trim() === name && name.length <= longestName,
        ),
      `must be of 1 to ${longestName} characters, without control characters and without spaces around`,
    ),
    v.check((names) => names.every((name) => pattern.test(name)), message),
    typed({ type: ['string', 'number'] }),
  );
}

const word = '[A-Za-z0-9][A-Za-z0-9._-]*';
const row = fileRowsOf('allow');
const list = { otherwise: 'none', repeatable: 'lines', unquoted: true } as const;

/** The settings of `allow`: who may log in. One match is enough. */
export const allowRows = {
  allowedUsers: row('users <names>', {
    schema: texts(/./, ''),
    help: 'users, by login name or by id; digits are always an id',
    ...list,
  }),
  allowedOrganizations: row('organizations <names>', {
    schema: texts(new RegExp(`^${word}$`), 'must be the names or ids of organizations'),
    help: 'members of these organizations; workspaces of Slack and servers of Discord by id',
    ...list,
  }),
  allowedTeams: row('teams <names>', {
    schema: texts(new RegExp(`^${word}/${word}$`), 'must be organization/team'),
    help: 'members of these teams, each as organization/team',
    ...list,
  }),
  allowedEmails: row('emails <addresses>', {
    schema: texts(/^[^\s@]+@[^\s@]+$/, 'must be e-mail addresses'),
    help: 'people with one of these e-mail addresses, verified by the provider',
    ...list,
  }),
  allowedEmailDomains: row('email-domains <domains>', {
    schema: texts(
      /^([A-Za-z0-9-]+\.)+[A-Za-z0-9-]+$/,
      'must be domains in ASCII, such as example.com, without @ and without *',
    ),
    help: 'people with a verified e-mail address at exactly one of these domains',
    ...list,
  }),
  allowedGroups: row('groups <names>', {
    schema: texts(/./, ''),
    help: 'people in one of these groups',
    ...list,
  }),
  groupsClaim: row('groups-claim <name>', {
    schema: v.pipe(v.string(), v.regex(visible, 'must be the name of a claim')),
    help: 'claim of the user record that has the groups; a dot leads into an object',
    otherwise: 'groups',
    unquoted: true,
  }),
};
