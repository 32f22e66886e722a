import { StrictMode, useContext } from 'react';
import { createRoot } from 'react-dom/client';
import { AuthContext, AuthProvider } from 'react-oauth2-code-pkce';
import { User } from './react-user.jsx';

const { relay, tokenExpiresIn } = globalThis.options;
const config = {
  clientId: 'app',
  authorizationEndpoint: `${relay}/auth/provider`,
  tokenEndpoint: `${relay}/auth/provider/token`,
  redirectUri: `${location.origin}/`,
  autoLogin: false,
  decodeToken: false,
  // Without a scope of its own, the library would send the word "undefined".
  refreshWithScope: false,
  ...(tokenExpiresIn && { tokenExpiresIn }),
  onRefreshTokenExpire: () => {
    document.title = 'The login has expired';
  },
};

function Page() {
  const { token, error, logIn, logOut, refreshAccessToken } = useContext(AuthContext);
  return (
    <>
      <button type="button" onClick={() => logIn(crypto.randomUUID())}>
        Log in
      </button>
      <button type="button" onClick={() => refreshAccessToken()}>
        Renew
      </button>
      <button type="button" onClick={() => logOut()}>
        Log out
      </button>
      <User relay={relay} token={token} />
      <p role="alert">{error}</p>
    </>
  );
}

createRoot(document.querySelector('main')).render(
  <StrictMode>
    <AuthProvider authConfig={config}>
      <Page />
    </AuthProvider>
  </StrictMode>,
);
