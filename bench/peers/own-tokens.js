import { exportSPKI, generateKeyPair, jwtVerify, SignJWT } from 'jose';

// The algorithm with which most providers sign.
const { privateKey, publicKey } = await generateKeyPair('RS256');
const claims = { issuer: 'http://localhost:8000', audience: 'http://localhost:8000/mcp' };

/** A token that opens the peer, for ten hours. */
export const ownToken = await new SignJWT({ sub: '1', client_id: 'app' })
  .setProtectedHeader({ alg: 'RS256', kid: 'own' })
  .setIssuer(claims.issuer)
  .setAudience(claims.audience)
  .setIssuedAt()
  .setExpirationTime('10h')
  .sign(privateKey);

/** The key that verifies the token, as PEM. */
export const ownPublicKey = await exportSPKI(publicKey);

/** The person who has sent a request. @throws if the token is not valid */
export async function personOf({ authorization = '' }) {
  const { payload } = await jwtVerify(authorization.slice('Bearer '.length), publicKey, claims);
  return payload.sub;
}
