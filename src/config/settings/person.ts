import * as v from 'valibot';
import { oneOf, textOrNumber } from '../schemas.ts';
import { createFileRowMaker } from './setting.ts';

const row = createFileRowMaker({ unquoted: true });

/** The path of a value in a user record: names with dots between them, such as `emails.0.value`. */
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
    help: 'where allow and resources learn who somebody is: user-endpoint (by a lookup); or id-token (which comes with the tokens, without a lookup)',
    otherwise: 'user-endpoint',
  }),
  userId: row('user-id', path, {
    help: "path of the person's id in the user record, such as data.id. A number is the index of a list. A key may contain dots: the longest key that exists is used",
    otherwise: "the preset's; sub without a preset",
  }),
  userName: row('user-name', path, {
    help: 'path of the login name in the user record. Entries of users then mean login names, and case matters, unless they are numbers or written as id:ada',
    otherwise: "the preset's; without it, every entry of users is an id",
  }),
  userEmail: row('user-email', path, {
    help: 'path of the e-mail address in the user record, such as emails.0.value',
    otherwise: "the preset's; email without a preset",
  }),
  userEmailVerified: row('user-email-verified', path, {
    help: 'path of the field that says whether the address is verified; always: every address is, because the provider hands them out itself',
    otherwise:
      "the preset's; email_verified without a preset and without user-email; else no address counts as verified",
  }),
};
