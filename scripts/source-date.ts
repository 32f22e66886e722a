/**
 * The date of all built files, so that the same commit yields the same bytes.
 *
 * @see https://reproducible-builds.org/specs/source-date-epoch/
 */
export const sourceDate = new Date(Number(process.env['SOURCE_DATE_EPOCH'] ?? 0) * 1000);
