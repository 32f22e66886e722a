import { whyUnreadable } from '../text-files.ts';
import type { Readings } from './readings.ts';

const largestLogo = 64 * 1024;

/** The types of images, with the beginnings of their files. A type completes `image/`. */
const imageTypes = [
  ['png', /^\x89PNG\r\n/],
  ['jpeg', /^\xff\xd8\xff/],
  ['webp', /^RIFF.{4}WEBP/s],
  ['svg+xml', /^[^\0]{0,2000}?<svg[\s>/]/],
] as const;

/** Reads how the relay's own pages look and speak; undefined if the file does not say it. */
export function readPages({ pages }: Readings) {
  if (pages === undefined) return undefined;
  return { ...pages.values, logo: readLogo(pages), texts: pages.texts?.values ?? {} };
}

/** Reads the logo, and returns it as a `data:` URL; undefined if there is none, and after a fault. */
function readLogo({ values, readFile, reportFault }: NonNullable<Readings['pages']>) {
  if (values.logo === undefined) return undefined;
  try {
    const { text, bytes = Buffer.from(text) } = readFile(values.logo);
    if (bytes.length > largestLogo) return reportFault('logo', 'names a file larger than 64 KiB');
    const content = bytes.toString('latin1');
    const [type] = imageTypes.find(([, beginning]) => beginning.test(content)) ?? [];
    if (type === undefined) return reportFault('logo', 'names a file that is no SVG, PNG, JPEG or WebP');
    return `data:image/${type};base64,${bytes.toString('base64')}`;
  } catch (error) {
    return reportFault('logo', whyUnreadable(error));
  }
}
