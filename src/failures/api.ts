import type { Failures } from './failure.ts';

/** Failures of requests to the provider's API that go through the relay. */
export const apiFailures = {
  path_refused: {
    status: 400,
    detail:
      'The path has an empty segment, a segment of dots, or a slash, backslash or percent sign in encoded form. Or the path or the query has characters that must be encoded.',
  },
  upload_too_large: { status: 413, detail: 'The body is larger than 64 MiB.' },
  api_of_other_provider: {
    status: 403,
    detail: 'The user is logged in at another provider than the one that this API belongs to.',
  },
} as const satisfies Failures;
