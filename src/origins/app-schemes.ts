/** The name of a scheme, with its colon. @see RFC 3986 §3.1 */
const schemeOf = /^([a-z][a-z0-9+.-]*):/i;

const words = (...lines: readonly string[]): ReadonlySet<string> => new Set(lines.flatMap((line) => line.split(' ')));

/** Schemes that browsers, mail programs, phones or systems act on themselves, so that no program can own them. */
const actedOn = words(
  'about android-app blob brave chrome cid content data devtools edge extension feed file filesystem firefox ftp ftps',
  'gopher isolated-app jar javascript livescript mhtml mid mk mocha opera res resource vbs vbscript view-source vivaldi',
  'ws wss wyciwyg',
  'callto facetime facetime-audio geo im imessage irc ircs magnet mailto maps market mms mmsto news nntp sip sips skype',
  'sms smsto snews tel telprompt webcal xmpp',
  'afp app-prefs app-settings apt cifs dav davs disk hcp help intent its jnlp jnlps ldap ldaps nfs oms onenote openvpn',
  'otpauth prefs rdp rlogin scp search search-ms sftp shell shortcuts smb snap ssh steam svn tag telnet tn3270 upi urn',
  'vnc wifi workflow',
);

/** Families of such schemes, whose names begin with their owner's. */
const actedOnByOwner =
  /^(?:chrome-|com\.(?:apple|android|microsoft)\.|edge-|firefox-|git\+|googlechrome|itms|microsoft[-.]|moz-|ms-|opera-|safari-|touch-http|windows|x-apple|x-web-search)/;

/** Whether a browser or the system acts on a scheme, so that an address with it opens no program of the operator. */
const isActedOn = (scheme: string) => actedOn.has(scheme) || actedOnByOwner.test(scheme);

/**
 * Schemes of editors and apps that log in at servers unknown to them, although RFC 8252 asks for a dot in the name.
 * @see RFC 8252 §7.1
 */
const knownApps = words(
  'antigravity claude code-oss cursor cursor-nightly exp goose jetbrains kiro lmstudio obsidian positron raycast trae vscode',
  'vscode-insiders vscodium warp warppreview windsurf windsurf-next zed',
);

/** The scheme of an address that opens an app. @returns undefined if it has another form, or an app may not use it */
export function appSchemeOf(address: string): string | undefined {
  // An address that a URL parser would repair, such as one with a tab in the scheme, does not count.
  const scheme = /^[a-z][a-z0-9+.-]*:\//i.test(address) ? schemeOf.exec(address)?.[1]?.toLowerCase() : undefined;
  return scheme !== undefined && isAppScheme(scheme) ? scheme : undefined;
}

/** Whether an app of the operator may use this scheme. */
export const isAppScheme = (scheme: string): boolean =>
  schemeOf.test(`${scheme}:`) && !/^https?$/i.test(scheme) && !isActedOn(scheme.toLowerCase());

/**
 * Whether an unregistered client may have a redirect URI: on the web, of a known app, or with a scheme that has a dot
 * or belongs to the operator. Another scheme could open a program that expects no login.
 */
export function mayBeOfStranger(redirectUri: string, ownSchemes: readonly string[]): boolean {
  if (/^https?:/.test(redirectUri)) return true;
  const scheme = appSchemeOf(redirectUri);
  return scheme !== undefined && (scheme.includes('.') || knownApps.has(scheme) || ownSchemes.includes(scheme));
}
