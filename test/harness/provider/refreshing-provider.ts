import { canary } from '../expect/canaries.ts';
import { redirectUri } from '../relay/relay.ts';
import { answer, json, type Reply, reset } from './provider-behaviours.ts';
import { revocationPath } from './strict-calls.ts';
import { type Behaviour, StrictProvider, userRecord } from './strict-provider.ts';

/** The tokens of one login. */
interface Family {
  readonly scope: string;
  accessToken: string;
  refreshToken: string | undefined;
  isRevoked: boolean;
}

/** The behaviour of the provider. Tests change it. */
export interface ProviderMood {
  /**
   * What a refresh does to the refresh token. With `adds`, there is a new refresh token, and the earlier refresh tokens
   * stay valid. With `none`, there are no refresh tokens.
   */
  rotation: 'rotates' | 'adds' | 'keeps' | 'none';
  /** Seconds until an access token expires, or undefined if the provider does not say. */
  expiresIn: number | undefined;
  /** Seconds until a refresh token expires, or undefined if the provider does not say. */
  refreshExpiresIn: number | undefined;
  /** If set, the answer to all calls: a status, a reset, a body that is not JSON, or an error that quotes the call. */
  trouble: number | 'reset' | 'nonsense' | 'quotes' | undefined;
  /** Whether token answers have a scope. */
  saysScope: boolean;
  /** Refreshes are answered after this promise. */
  patience: Promise<void> | undefined;
}

const goodMood: ProviderMood = {
  rotation: 'rotates',
  expiresIn: 28_800,
  refreshExpiresIn: undefined,
  trouble: undefined,
  saysScope: true,
  patience: undefined,
};

/**
 * The strict provider with refresh tokens, rotation and detection of reuse. A second use of a refresh token ends the
 * login. It speaks `client_secret_post`.
 */
export class RefreshingProvider extends StrictProvider {
  readonly mood: ProviderMood = { ...goodMood };
  /** The logins, by every access token and refresh token that was ever issued. */
  readonly #families = new Map<string, Family>();

  static override async start(): Promise<RefreshingProvider> {
    const provider = new RefreshingProvider({
      clientId: 'client-1',
      clientSecret: canary('secret'),
      redirectUri,
      tokenRequest: 'body',
      refreshTokens: true,
    });
    provider.forget();
    await provider.listen();
    return provider;
  }

  /** The relay's flags for this provider. */
  get flags() {
    return {
      'authorize-url': this.authorizeUrl,
      'token-url': this.tokenUrl,
      'user-url': this.userUrl,
      'revocation-url': this.origin + revocationPath,
      'token-request': 'body',
    };
  }

  /** The same settings, as lines of an entry of `providers`. */
  get settings(): readonly string[] {
    return Object.entries(this.flags).map((pair) => pair.join(': '));
  }

  /** Behaves well again. @throws if a call was not as the specification says */
  override forget(): void {
    if (this.violations.length > 0) throw new Error(this.violations.join(', '));
    super.forget();
    Object.assign(this.mood, goodMood);
    this.onToken = this.#unlessInTrouble(this.#exchange);
    this.onRevocation = this.#unlessInTrouble(this.#revoke);
    this.knows(userRecord);
    const refresh = this.#unlessInTrouble(this.#refresh);
    this.onRefresh = async (response, call) => {
      await this.mood.patience;
      refresh(response, call);
    };
  }

  override async stop(): Promise<void> {
    await super.stop();
    this.forget();
  }

  /** Revokes every login. */
  revokeAll(): void {
    for (const family of this.#families.values()) family.isRevoked = true;
  }

  /** Accepts an access token no longer. Its login goes on. */
  expire(accessToken: string): void {
    const family = this.#families.get(accessToken);
    if (family?.accessToken === accessToken) family.accessToken = '';
  }

  /** Whether a refresh token is the newest of its login. */
  isNewest(refreshToken = ''): boolean {
    return this.#families.get(refreshToken)?.refreshToken === refreshToken;
  }

  /** Answers lookups with this record, if the access token is good. */
  knows(record: Behaviour): void {
    this.onUser = (response, call) => {
      (this.accepts(call.credential) ? record : json({}, 401))(response, call);
    };
  }

  /** Whether the provider accepts the access token. */
  accepts(accessToken: string): boolean {
    const family = this.#families.get(accessToken);
    return family?.accessToken === accessToken && !family.isRevoked;
  }

  #unlessInTrouble(behaviour: Behaviour): Behaviour {
    return (response, call) => {
      const { trouble } = this.mood;
      const quoting = { error: call.credential, error_description: call.credential };
      if (trouble === undefined) behaviour(response, call);
      else if (trouble === 'reset') reset(response);
      else if (trouble === 'nonsense') answer(200, '<html>', {})(response);
      else if (trouble === 'quotes') json(quoting, 400)(response);
      else json({}, trouble)(response);
    };
  }

  readonly #exchange: Behaviour = (response, { credential }) => {
    const accessToken = this.spend(credential);
    const family = { scope: 'read write', accessToken: '', refreshToken: '', isRevoked: false };
    (accessToken === undefined ? refused : this.#grant(family, family.scope))(response);
  };

  readonly #refresh: Behaviour = (response, { credential, scope }) => {
    const family = this.#families.get(credential);
    const isReused = family?.refreshToken !== credential && this.mood.rotation !== 'adds';
    if (family !== undefined && isReused) family.isRevoked = true;
    if (family === undefined || family.isRevoked) refused(response);
    else this.#grant(family, scope ?? family.scope)(response);
  };

  readonly #revoke: Behaviour = (response, { credential }) => {
    const family = this.#families.get(credential);
    if (family !== undefined) family.isRevoked = true;
    json({})(response);
  };

  #grant(family: Family, scope: string): Reply {
    const { rotation, expiresIn, refreshExpiresIn } = this.mood;
    const isNew = family.refreshToken === '' || rotation === 'rotates' || rotation === 'adds';
    if (isNew) family.refreshToken = canary('token');
    if (rotation === 'none') family.refreshToken = undefined;
    family.accessToken = canary('token');
    this.#families.set(family.accessToken, family);
    if (family.refreshToken !== undefined) this.#families.set(family.refreshToken, family);
    return json({
      access_token: family.accessToken,
      token_type: 'bearer',
      scope: this.mood.saysScope ? scope : undefined,
      expires_in: expiresIn,
      refresh_token: isNew ? family.refreshToken : undefined,
      refresh_token_expires_in: refreshExpiresIn,
    });
  }
}

const refused = json({ error: 'invalid_grant' }, 400);
