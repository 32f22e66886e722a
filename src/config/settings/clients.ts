import * as v from 'valibot';
import { documentUrl } from '../../clients/documents.ts';
import { trueOrFalse, typed, wholeNumber } from '../schemas.ts';
import { fileRowsOf } from './setting.ts';

const row = fileRowsOf('clients');

/** A host as a URL has it: in lower case, with a port only if it is not 443. */
const isHost = (text: string) =>
  URL.parse(`https://${text}/`)?.href === `https://${text}/` && !/[@*]/.test(text);

/** `any`, or hosts and URLs of documents with spaces between them. */
const documents = v.pipe(
  v.string(),
  v.transform((given) => given.split(' ')),
  v.check(
    (given) =>
      given.join() === 'any' || given.every((one) => isHost(one) || documentUrl(one) !== undefined),
    'must be hosts (claude.ai, or example.com:8443), URLs of documents (https://example.com/client.json), or any alone',
  ),
  v.transform((given) =>
    given[0] === 'any'
      ? ('any' as const)
      : { hosts: given.filter(isHost), urls: given.filter((one) => !isHost(one)) },
  ),
  typed({ type: 'string' }),
);

/** The settings of `clients`: which programs may log in at a native front end without an entry of their own. */
export const clientRows = {
  documents: row('documents <hosts>', {
    schema: documents,
    help: 'hosts or URLs of client ID metadata documents: their clients may log in. any: all of them',
    otherwise: 'none',
    repeatable: true,
    unquoted: true,
  }),
  registration: row('registration <true>', {
    schema: trueOrFalse,
    help: 'whether clients may register themselves (RFC 7591)',
    default: 'false',
  }),
  days: row('days <number>', {
    schema: wholeNumber(1, 400),
    help: 'days after which such a registration ends',
    default: '90',
  }),
};
