import { getCACertificates, setDefaultCACertificates } from 'node:tls';

const builtIn = getCACertificates('default');
const added = new Set<string>();

/**
 * Lets this process trust a certificate, or an authority.
 *
 * @returns a function that ends the trust, because of two authorities with the same name, OpenSSL may ask the wrong one
 */
export function trust(pem: string): () => void {
  const apply = () => setDefaultCACertificates([...builtIn, ...added]);
  added.add(pem);
  apply();
  return () => {
    added.delete(pem);
    apply();
  };
}
