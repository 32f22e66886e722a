import * as v from 'valibot';
import { pageTexts, placeholdersOf } from '../../delivery/page-texts.ts';
import { httpUrl } from '../../urls.ts';
import * as schemas from '../schemas.ts';
import { createFileRowMaker } from './setting.ts';

const longestText = 1000;

const isContact = (text: string) =>
  /^[\w.+-]+@[\w-]+(\.[\w-]+)+$/.test(text) || (/^https?:/.test(text) && v.is(httpUrl, text));

const contact = v.pipe(schemas.oneLine(200), v.check(isContact, 'must be a mail address or a URL'));
const row = createFileRowMaker({ unquoted: true });

/** `pages`: how the relay's own pages look and speak. */
export const pageRows = {
  name: row('name', schemas.oneLine(60), {
    help: 'name above each page, such as that of your organization',
    isFreeText: true,
  }),
  logo: row('logo', schemas.filePath, {
    help: 'file with a logo above each page: SVG, PNG, JPEG or WebP, at most 64 KiB',
  }),
  colour: row('colour', schemas.textMatching(/^#[0-9a-f]{6}$/i, 'must be #rrggbb, in quotes'), {
    help: 'colour of links and buttons, as "#rrggbb"; made lighter or darker where it would be hard to read',
    otherwise: 'green',
  }),
  contact: row('contact', contact, {
    help: 'whom to ask if a login fails: an e-mail address, or the URL of a page',
  }),
  lang: row('lang', schemas.textMatching(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'must be a language tag'), {
    help: 'language of your texts, such as de',
    aliases: ['language', 'locale'],
    default: 'en',
  }),
};

export const textRows = Object.fromEntries(
  Object.entries(pageTexts).map(([key, text]) => [
    key,
    row(key, ownText(text), { help: 'text of a page', otherwise: text }),
  ]),
);

/** A schema for the operator's text in place of a text of the relay, with the same placeholders in the same order. */
function ownText(text: string) {
  const names = placeholdersOf(text);
  const expected = names.map((name) => `{${name}}`).join(' and ');
  const hasSamePlaceholders = (own: string) => placeholdersOf(own).join() === names.join();
  const hasOtherBraces = (own: string) => /[{}]/.test(own.replace(/\{\w+\}/g, ''));
  return v.pipe(
    schemas.oneLine(longestText),
    v.check(
      (own) => hasSamePlaceholders(own) && !hasOtherBraces(own),
      names.length === 0 ? 'must have no braces' : `must have ${expected}, and no other braces`,
    ),
  );
}
