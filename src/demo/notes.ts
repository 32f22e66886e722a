import type { RequestListener } from 'node:http';

/** The path of the notes at the origin of the demo's front end. */
export const notesPath = '/api/notes';
/** The path at which clients read who issues tokens. @see RFC 9728 §3.1 */
const metadataPath = `/.well-known/oauth-protected-resource${notesPath}`;

/** An API without code for OAuth. A header from the check in front of it says who calls. */
const listNotes: RequestListener = ({ headers }, response) => {
  // The relay percent-encodes the values of these headers.
  const name = decodeURIComponent(`${headers['x-forwarded-preferred-username']}`);
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ notes: [`This note is for ${name} alone.`] }));
};

/**
 * Creates the notes behind a check. It asks the relay about each request, as a reverse proxy does, and passes refusals
 * and the metadata on to the client.
 */
export function createNotesApi(relayUrl: string): RequestListener {
  return async (request, response) => {
    const path = request.url === metadataPath ? metadataPath : '/auth/check/notes';
    const { authorization = '' } = request.headers;
    try {
      const answer = await fetch(relayUrl + path, { headers: { authorization } });
      if (answer.status === 204) {
        // The relay's headers replace the client's own, which anyone could have made up.
        for (const [name, value] of answer.headers) {
          if (name.startsWith('x-forwarded-')) request.headers[name] = value;
        }
        return listNotes(request, response);
      }
      for (const name of ['content-type', 'www-authenticate']) {
        const value = answer.headers.get(name);
        if (value !== null) response.setHeader(name, value);
      }
      response.writeHead(answer.status).end(await answer.text());
    } catch {
      response.writeHead(503).end();
    }
  };
}
