"""A Django site whose only application is django-oauth-toolkit, as its tutorial has it.

https://django-oauth-toolkit.readthedocs.io/en/1.7.0/oidc.html
Its settings come from the environment; its arguments are those of Django's manage.py.
"""

import os
import sys
from pathlib import Path

from django.conf import settings
from django.core.management import execute_from_command_line

settings.configure(
    ALLOWED_HOSTS=["*"],
    AUTH_PASSWORD_VALIDATORS=[],
    DATABASES={
        "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["DATABASE"]}
    },
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    INSTALLED_APPS=[
        "django.contrib.admin",
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.messages",
        "django.contrib.sessions",
        "django.contrib.staticfiles",
        "oauth2_provider",
    ],
    LOGIN_URL="/admin/login/",
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True,
        "OIDC_RSA_PRIVATE_KEY": Path(os.environ["SIGNING_KEY"]).read_text(),
        "PKCE_REQUIRED": True,
        "AUTHORIZATION_CODE_EXPIRE_SECONDS": int(os.environ["CODE_SECONDS"]),
        "SCOPES": {"openid": "who you are"},
        "OAUTH2_VALIDATOR_CLASS": "__main__.Validator",
    },
    ROOT_URLCONF="__main__",
    SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https"),
    SECRET_KEY=os.environ["SECRET_KEY"],
    STATIC_URL="/static/",
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ],
)

import django  # noqa: E402

django.setup()

from django.contrib import admin  # noqa: E402
from django.urls import include, path  # noqa: E402
from oauth2_provider.oauth2_validators import OAuth2Validator  # noqa: E402


class Validator(OAuth2Validator):
    def get_additional_claims(self, request):
        return {"name": request.user.get_full_name()}


urlpatterns = [
    path("admin/", admin.site.urls),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
