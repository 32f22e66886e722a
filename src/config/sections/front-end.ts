import { httpUrl } from '../../urls.ts';
import type { Option } from '../option.ts';
import { checked, type Reading, reportOwnParameters } from '../reading.ts';
import * as schemas from '../schemas.ts';

/** The front end, and how a login reaches it. */
export interface FrontEndSettings {
  readonly origin: string;
  readonly frontendUrl: string;
  readonly tokenDelivery: 'query' | 'fragment';
  readonly errorDelivery: 'json' | 'page' | 'redirect';
}

/** The options that every relay needs. */
export const requiredFrontEndOptions = {
  origin: {
    flag: '--origin',
    argument: '<origin>',
    variable: 'FRONTEND_ORIGIN',
    group: 'Required',
    help: 'origin of the front end, such as https://app.example.com',
    otherwise: 'required',
    schema: schemas.origin,
  },
} as const satisfies Record<string, Option>;

/** The other options of {@link FrontEndSettings}. */
export const frontEndOptions = {
  frontendUrl: {
    flag: '--frontend-url',
    argument: '<url>',
    variable: 'FRONTEND_URL',
    group: 'Front end',
    help: 'page that receives the token; it must be inside the origin',
    otherwise: 'the origin',
    schema: httpUrl,
  },
  tokenDelivery: {
    flag: '--token-delivery',
    argument: '<where>',
    variable: 'TOKEN_DELIVERY',
    group: 'Front end',
    help: 'part of the front end URL that carries the token: query or fragment',
    default: 'query',
    schema: schemas.oneOf(['query', 'fragment']),
  },
  errorDelivery: {
    flag: '--error-delivery',
    argument: '<how>',
    variable: 'ERROR_DELIVERY',
    group: 'Front end',
    help: 'how failures are answered: json; page (a page for people, JSON for programs); or redirect (a failed login goes to the front end with error, error_description and request_id)',
    default: 'json',
    schema: schemas.oneOf(['json', 'page', 'redirect']),
  },
} as const satisfies Record<string, Option>;

/** The parameters that a delivery adds to the front end's URL. */
const deliveredParameters = ['access_token', 'state', 'error', 'error_description', 'request_id'];

/** Reads the section. Call the result once no fault was reported. */
export function readFrontEnd(reading: Reading): () => FrontEndSettings {
  const { values, sourceOf, describe, fault } = reading;
  if (sourceOf('origin') === undefined) fault('origin', 'is required');
  if (values.frontendUrl && values.origin && values.frontendUrl.origin !== values.origin) {
    fault('frontendUrl', `must be inside ${describe('origin')}`);
  }
  reportOwnParameters(reading, 'frontendUrl', deliveredParameters);
  return () => {
    const origin = checked(values.origin);
    return {
      origin,
      frontendUrl: values.frontendUrl?.href ?? `${origin}/`,
      tokenDelivery: checked(values.tokenDelivery),
      errorDelivery: checked(values.errorDelivery),
    };
  };
}
