import * as v from 'valibot';
import { oneOf, textOrNumber } from '../schemas.ts';
import { fileRows } from './setting.ts';

const row = fileRows({ unquoted: true });

/** Where a record has a value: names with dots between them. */
const path = v.pipe(
  textOrNumber(/^[^\p{C}\s](?:[^\p{C}]*[^\p{C}\s])?$/u, 'must be a name, or names with dots between them'),
  v.regex(
    /^(?!\$\.|\/)[^[\]]*$/,
    'must be names with dots between them, such as emails.0.value: no JSONPath, no JSON Pointer',
  ),
  v.maxLength(255, 'must have at most 255 characters'),
);

export const personRows = {
  userFrom: row('user-from', oneOf(['user-endpoint', 'id-token']), {
    help: 'where the provider says who somebody is, for allow and resources: user-endpoint; or id-token, which the token endpoint gives, without a lookup',
    otherwise: 'user-endpoint',
  }),
  userId: row('user-id', path, {
    help: 'where the user record has the id of a person, such as data.id: the longest key that exists counts, then what follows after a dot; a number is the index of a list',
    otherwise: "the preset's; sub without a preset",
  }),
  userName: row('user-name', path, {
    help: 'where the user record has the login name; an entry of users that is no number then means it, in the same case, and id:ada means an id',
    otherwise: "the preset's; without it, every entry of users is an id",
  }),
  userEmail: row('user-email', path, {
    help: 'where the user record has the e-mail address, such as emails.0.value',
    otherwise: "the preset's; email without a preset",
  }),
  userEmailVerified: row('user-email-verified', path, {
    help: 'where the user record says that the address is verified; always: each is, because the provider gives them out itself',
    otherwise:
      "the preset's; email_verified without a preset and without user-email; else no address counts as verified",
  }),
};
