/** The name of a scheme, with its colon. @see RFC 3986 §3.1 */
const schemeForm = /^([a-z][a-z0-9+.-]*):/i;

const words = (...lines: readonly string[]): ReadonlySet<string> => new Set(lines.flatMap((line) => line.split(' ')));

/**
 * Schemes on which browsers, mail programs, phones or systems act themselves, so that no other program can own them.
 */
const systemSchemes = words(
  'about android-app blob brave chrome cid content data devtools edge extension feed file filesystem firefox ftp ftps',
  'gopher isolated-app jar javascript livescript mhtml mid mk mocha opera res resource vbs vbscript view-source vivaldi',
  'ws wss wyciwyg',
  'callto facetime facetime-audio geo im imessage irc ircs magnet mailto maps market mms mmsto news nntp sip sips skype',
  'sms smsto snews tel telprompt webcal xmpp',
  'afp app-prefs app-settings apt cifs dav davs disk hcp help intent its jnlp jnlps ldap ldaps nfs oms onenote openvpn',
  'otpauth prefs rdp rlogin scp search search-ms sftp shell shortcuts smb snap ssh steam svn tag telnet tn3270 upi urn',
  'vnc wifi workflow',
);

/** Families of such schemes, whose names begin with the name of their owner. */
const systemSchemeFamilies =
  /^(?:chrome-|com\.(?:apple|android|microsoft)\.|edge-|firefox-|git\+|googlechrome|itms|microsoft[-.]|moz-|ms-|opera-|safari-|touch-http|windows|x-apple|x-web-search)/;

/**
 * Whether a browser or the system acts on a scheme, so that such an address does not open the operator's program.
 *
 * @param scheme in lower case
 */
const isSystemScheme = (scheme: string) => systemSchemes.has(scheme) || systemSchemeFamilies.test(scheme);

/**
 * Schemes of editors and apps that log in at any server. They have no dot in the name, although RFC 8252 asks for one.
 *
 * @see RFC 8252 §7.1
 */
const knownApps = words(
  'antigravity claude code-oss cursor cursor-nightly exp goose jetbrains kiro lmstudio obsidian positron raycast trae vscode',
  'vscode-insiders vscodium warp warppreview windsurf windsurf-next zed',
);

/** Reads the scheme of an address that opens an app. @returns undefined if no app may use it, or it has no slash */
export function readAppScheme(address: string): string | undefined {
  // Do not parse the address as a URL, which would repair it, such as a tab in the scheme.
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\//i.exec(address) ?? [];
  return scheme !== undefined && isAppScheme(scheme) ? scheme.toLowerCase() : undefined;
}

/** Whether an app of the operator may use this scheme. */
export const isAppScheme = (scheme: string): boolean =>
  schemeForm.test(`${scheme}:`) && !/^https?$/i.test(scheme) && !isSystemScheme(scheme.toLowerCase());

/**
 * Whether an unregistered client may use a redirect URI: on the web, of a known app, or with a scheme that has a dot or
 * belongs to the operator. Any other scheme could open a program that expects no login.
 *
 * @param ownSchemes the operator's schemes without a dot, in lower case
 */
export function mayUnregisteredClientUse(redirectUri: string, ownSchemes: readonly string[]): boolean {
  if (/^https?:/.test(redirectUri)) return true;
  const scheme = readAppScheme(redirectUri);
  return scheme !== undefined && (scheme.includes('.') || knownApps.has(scheme) || ownSchemes.includes(scheme));
}
