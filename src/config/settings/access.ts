import * as v from 'valibot';
import { isAppScheme } from '../../origins/app-schemes.ts';
import { longestDays } from '../../times.ts';
import { parseDocumentUrl } from '../../urls.ts';
import { trueOrFalse, typed, wholeNumber } from '../schemas.ts';
import { createFileRowMaker } from './setting.ts';

const longestName = 255;
const visible = /^[^\p{C}]+$/u;

/** Whether a text can be a name at a provider: visible characters without spaces around them, and not too many. */
const isName = (text: string) => visible.test(text) && text.trim() === text && text.length <= longestName;

/** A schema for names with line breaks between them, each of which matches a pattern. */
function namesOnLines(pattern = /^/, message?: string) {
  return v.pipe(
    v.string(),
    v.transform((given) => given.split('\n')),
    v.check(
      (names) => names.every(isName),
      `must have 1 to ${longestName} characters, no control characters, and no space at either end`,
    ),
    v.check((names) => names.every((name) => pattern.test(name)), message),
    typed({ type: ['string', 'number'] }),
  );
}

const word = '[A-Za-z0-9][A-Za-z0-9._-]*';
/** Matches the optional name of a provider before a name: `github:` in `github:ada`. */
const providerPrefix = '^([A-Za-z0-9_-]+:)?';
const organizations = namesOnLines(
  new RegExp(`${providerPrefix}${word}$`),
  'must be the names or ids of organizations',
);
const teams = namesOnLines(new RegExp(`${providerPrefix}${word}/${word}$`), 'must be organization/team');
const domains = namesOnLines(
  new RegExp(`${providerPrefix}([A-Za-z0-9-]+\\.)+[A-Za-z0-9-]+$`),
  'must be domains in ASCII, such as example.com, without @ and without *',
);
const emails = new RegExp(`${providerPrefix}[^\\s@:\uff20\ufe6b]+@[^\\s@:\uff20\ufe6b]+$`);
const claim = v.pipe(v.string(), v.regex(visible, 'must be the name of a claim'));
const row = createFileRowMaker({ unquoted: true });
/** Makes rows for lists whose values may contain spaces, such as names of groups. */
const listRow = createFileRowMaker({ unquoted: true, repeatable: 'lines' });
const clientRow = createFileRowMaker();

/** `allow`: who may log in. One match is enough. */
export const allowRows = {
  users: listRow('users', namesOnLines(), {
    help: 'users, by login name or id (only digits: an id). github:ada means ada at the provider github; the other lists take such a prefix too',
  }),
  organizations: listRow('organizations', organizations, {
    aliases: ['orgs'],
    help: 'members of these organizations (Slack workspaces and Discord servers by id)',
  }),
  teams: listRow('teams', teams, { help: 'members of these teams, each as organization/team' }),
  emails: listRow('emails', namesOnLines(emails, 'must be e-mail addresses'), {
    help: 'people with one of these e-mail addresses, verified by the provider',
  }),
  emailDomains: listRow('email-domains', domains, {
    help: 'people with a verified e-mail address at exactly one of these domains',
  }),
  groups: listRow('groups', namesOnLines(), { help: 'people in one of these groups' }),
  groupsClaim: row('groups-claim', claim, {
    help: 'claim of the user record that lists the groups; a.b means b in the object a',
    otherwise: 'groups',
  }),
};

/** Whether a text is a host as URLs have it: in lower case, with a port only if it is not 443. */
const isHost = (text: string) => URL.parse(`https://${text}/`)?.href === `https://${text}/` && !/[@*]/.test(text);

/** `any`, or hosts and URLs of documents. */
const documentSources = v.pipe(
  v.string(),
  v.transform((given) => given.split(' ')),
  v.check(
    (given) => given.join() === 'any' || given.every((text) => isHost(text) || parseDocumentUrl(text) !== undefined),
    'must be hosts (claude.ai, or example.com:8443), URLs of documents (https://example.com/client.json), or any alone',
  ),
  v.transform((given) =>
    given[0] === 'any'
      ? ('any' as const)
      : { hosts: given.filter(isHost), urls: given.filter((text) => !isHost(text)) },
  ),
);

const schemes = v.pipe(
  v.string(),
  v.transform((given) => given.toLowerCase().split(' ')),
  v.check(
    (names) => names.every((name) => /^[a-z][a-z0-9+.-]{0,39}$/.test(name)),
    'must be names of schemes, such as acmeide',
  ),
  v.check(
    (names) => names.every(isAppScheme),
    'must not name a scheme that browsers or operating systems handle themselves',
  ),
);

/** `clients`: the unregistered programs that may log in at a native front end. */
export const clientRows = {
  documents: clientRow('documents', documentSources, {
    help: 'hosts or URLs of client ID metadata documents whose clients may log in; any: every client with such a document',
    repeatable: true,
    unquoted: true,
  }),
  registration: clientRow('registration', trueOrFalse, {
    help: 'whether clients may register themselves (RFC 7591)',
    default: 'false',
  }),
  schemes: clientRow('schemes', schemes, {
    help: 'app schemes, such as acmeide, that these clients may use in redirect URIs, besides schemes with a dot and those of known editors',
    otherwise: 'none',
    repeatable: true,
    unquoted: true,
  }),
  days: clientRow('days', wholeNumber(1, longestDays.clientId), {
    help: 'days until such a registration expires',
    default: '90',
  }),
};
