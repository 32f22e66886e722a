import * as v from 'valibot';
import type { Option } from '../option.ts';
import * as schemas from '../schemas.ts';

/** What a front end may use. Only a file can give it: flags describe one provider and one front end. */
export const frontEndAccessOptions = {
  providers: {
    argument: '<names>',
    help: 'names of the providers that the front end may use',
    otherwise: 'all',
    repeatable: true,
    schema: v.pipe(
      v.string(),
      v.transform((text) => text.split(' ')),
      v.array(schemas.pathSegment),
    ),
  },
  scope: {
    argument: '<scopes>',
    help: 'scopes that the front end may request, and gets if it requests none',
    otherwise: "the provider's",
    schema: schemas.scope,
  },
} as const satisfies Record<string, Omit<Option, 'flag' | 'variable' | 'group'>>;
