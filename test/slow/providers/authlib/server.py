"""An OAuth 2.0 server with Authlib and Flask, as Authlib's documentation builds one.

https://docs.authlib.org/en/v1.2.0/flask/2/authorization-server.html
It keeps everything in memory. Its settings come from the environment.
"""

import os
import time
from hmac import compare_digest
from types import SimpleNamespace

from authlib.integrations.flask_oauth2 import (
    AuthorizationServer,
    ResourceProtector,
    current_token,
)
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8414 import get_well_known_url
from flask import Flask, jsonify, redirect, render_template_string, request, session

ISSUER = os.environ["ISSUER"]
PERSON = SimpleNamespace(
    username=os.environ["LOGIN"], password=os.environ["PASSWORD"], name=os.environ["NAME"]
)


class Client(ClientMixin):
    def get_client_id(self):
        return os.environ["CLIENT_ID"]

    def get_default_redirect_uri(self):
        return os.environ["REDIRECT_URI"]

    def get_allowed_scope(self, scope):
        return " ".join(word for word in (scope or "").split() if word == "profile")

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri == os.environ["REDIRECT_URI"]

    def has_client_secret(self):
        return True

    def check_client_secret(self, client_secret):
        return compare_digest(client_secret.encode(), os.environ["CLIENT_SECRET"].encode())

    def check_endpoint_auth_method(self, method, endpoint):
        return method == "client_secret_basic"

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type == "authorization_code"


class Code(SimpleNamespace, AuthorizationCodeMixin):
    def is_expired(self):
        return self.issued + int(os.environ["CODE_SECONDS"]) < time.time()

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope


class Token(SimpleNamespace, TokenMixin):
    def get_scope(self):
        return self.scope

    def is_expired(self):
        return self.issued + self.expires_in < time.time()

    def is_revoked(self):
        return False


client = Client()
codes = {}
tokens = {}


class CodeGrant(AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic"]

    def save_authorization_code(self, code, request):
        codes[code] = Code(
            code=code,
            issued=time.time(),
            redirect_uri=request.redirect_uri,
            scope=request.scope,
            code_challenge=request.data.get("code_challenge"),
            code_challenge_method=request.data.get("code_challenge_method"),
        )

    def query_authorization_code(self, code, client):
        found = codes.get(code)
        return found if found and not found.is_expired() else None

    def delete_authorization_code(self, authorization_code):
        del codes[authorization_code.code]

    def authenticate_user(self, authorization_code):
        return PERSON


class TokenValidator(BearerTokenValidator):
    def authenticate_token(self, token_string):
        return tokens.get(token_string)


def save_token(token, request):
    tokens[token["access_token"]] = Token(issued=time.time(), **{"scope": "", **token})


app = Flask(__name__)
app.secret_key = os.urandom(32)
app.config["OAUTH2_SCOPES_SUPPORTED"] = ["profile"]
server = AuthorizationServer(
    app,
    query_client=lambda client_id: client if client_id == client.get_client_id() else None,
    save_token=save_token,
)
server.register_grant(CodeGrant, [CodeChallenge(required=True)])
require_oauth = ResourceProtector()
require_oauth.register_token_validator(TokenValidator())

PAGE = """<!DOCTYPE html><title>Authlib</title><form method="post">
{% if asks_for_login %}
<input name="username" placeholder="Username"><input name="password" type="password">
<button>Log in</button>
{% else %}
<p>{{ scope }}</p>
<label><input type="checkbox" name="confirm">Consent?</label><button>Submit</button>
{% endif %}
</form>"""


@app.route("/oauth/authorize", methods=["GET", "POST"])
def authorize():
    user = PERSON if session.get("user") else None
    if request.method == "GET":
        try:
            grant = server.get_consent_grant(end_user=user)
        except OAuth2Error as error:
            return error.error
        return render_template_string(PAGE, asks_for_login=not user, scope=grant.request.scope)
    if not user:
        given = (request.form.get("username"), request.form.get("password"))
        if given == (PERSON.username, PERSON.password):
            session["user"] = PERSON.username
        return redirect(request.url)
    return server.create_authorization_response(
        grant_user=user if request.form.get("confirm") else None
    )


@app.route("/oauth/token", methods=["POST"])
def issue_token():
    return server.create_token_response()


@app.route("/api/me")
@require_oauth("profile")
def api_me():
    return jsonify(username=PERSON.username, name=PERSON.name)


@app.route(get_well_known_url(ISSUER))
def metadata():
    return jsonify(
        issuer=ISSUER,
        authorization_endpoint=f"{ISSUER}/authorize",
        token_endpoint=f"{ISSUER}/token",
        scopes_supported=["profile"],
        response_types_supported=["code"],
        grant_types_supported=["authorization_code"],
        token_endpoint_auth_methods_supported=["client_secret_basic"],
        code_challenge_methods_supported=["S256"],
    )


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(os.environ["PORT"]))
