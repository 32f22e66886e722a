import { serve } from '../../harness/provider/serve.ts';

export const clientId = 'client-1';

/**
 * The server at the relay's own addresses while the tests run. It redirects the start of a login, as a
 * relay of the client does. It answers any other request with a page, as a front end does.
 */
const { port } = await serve((request, response) => {
  const { pathname } = new URL(request.url ?? '', ownAddress);
  if (!pathname.startsWith('/auth/')) {
    response.end('<!doctype html>');
    return;
  }
  const redirectUri = `${ownAddress}${pathname}/callback`;
  const query = new URLSearchParams({ client_id: clientId, redirect_uri: redirectUri });
  response.writeHead(307, { Location: `https://provider.invalid/authorize?${query}` }).end();
});

/** The base URL and the origin of the checks. */
export const ownAddress = `http://127.0.0.1:${port}`;
