import * as v from 'valibot';
import { mayUnregisteredClientUse } from '../origins/app-schemes.ts';
import { nativeRedirectUri } from '../origins/origin-schemas.ts';

/** A client that is not registered in the configuration. */
export interface Client extends ClientMetadata {
  readonly id: string;
  /**
   * The source of its metadata: the `operator`, who made its identifier; the `host` of its document; or only the client
   * `itself`.
   */
  readonly vouchedBy: 'operator' | 'host' | 'itself';
}

export interface ClientMetadata {
  readonly redirectUris: readonly string[];
  readonly name?: string | undefined;
}

const longestName = 40;
export const mostRedirectUris = 20;
/** Control characters, line ends, and characters that reorder or hide others. */
const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu;
/** More than three marks on one letter, which no language needs, and which would cover the lines above and below. */
const piledMarks = /(\p{M}{3})\p{M}+/gu;

/** Reads the redirect URIs of a client. @returns undefined unless they are 1 to 20 that native clients may have */
export function readRedirectUris(given: unknown): readonly string[] | undefined {
  const uris = v.safeParse(redirectUris, given);
  return uris.success ? uris.output : undefined;
}

const redirectUris = v.pipe(v.array(nativeRedirectUri), v.minLength(1), v.maxLength(mostRedirectUris));
const listedTexts = v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(mostRedirectUris));

/**
 * Reads the redirect URIs of a client that registers itself. It leaves out the URIs that the client may not have,
 * because a client lists the URIs of all its versions.
 *
 * @param ownSchemes schemes of apps that are allowed besides known schemes and schemes with a dot
 * @returns undefined unless they are 1 to 20 texts. `redirectUris` is empty if the client may have none of them
 */
export function readRegistrableUris(given: unknown, ownSchemes: readonly string[]) {
  const listed = v.safeParse(listedTexts, given);
  if (!listed.success) return undefined;
  const read = listed.output.map((text) => {
    const [uri] = readRedirectUris([text]) ?? [];
    return { text, uri: uri !== undefined && mayUnregisteredClientUse(uri, ownSchemes) ? uri : undefined };
  });
  return {
    redirectUris: read.flatMap(({ uri }) => uri ?? []),
    /** The same URIs in the client's own spelling. */
    asGiven: read.flatMap(({ text, uri }) => (uri === undefined ? [] : [text])),
    leftOut: read.flatMap(({ text, uri }) => (uri === undefined ? [text] : [])),
  };
}

/**
 * Reads the name of a client as one short line for people. Characters that could cover or imitate other text are
 * removed.
 */
export function readClientName(metadata: Readonly<Record<string, unknown>>): string | undefined {
  const { client_name: given } = metadata;
  if (typeof given !== 'string') return undefined;
  const line = given.slice(0, 1024).replace(invisible, ' ').replace(piledMarks, '$1').replace(/\s+/g, ' ').trim();
  const letters = [...line];
  if (letters.length <= longestName) return line || undefined;
  return `${letters.slice(0, longestName).join('')}…`;
}
