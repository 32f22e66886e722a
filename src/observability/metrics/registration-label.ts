import type { RequestRecord } from '../request-record.ts';

/** The label `registration`. There is none if there is only one registration, or if a request concerns none. */
export function registrationLabel({ registration }: Pick<RequestRecord, 'registration'>): {
  readonly registration?: string;
} {
  return registration === undefined ? {} : { registration };
}
