import { stringify } from 'yaml';
import { pageTexts } from '../../delivery/page-texts.ts';

/** `login-relay pages`: every text of the relay's pages, in the form of `pages.texts` in a configuration file. */
export function formatPageTexts(): string {
  return stringify(pageTexts, { lineWidth: 0 });
}
