"""The relay's endpoints as they are written by hand: the bare protocol, with a pooled client."""

import json
import os
import socket
import sys
from urllib.parse import urlencode

import httpx
import uvicorn
from fastapi import FastAPI, Header, HTTPException, Response
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import RedirectResponse

registration = json.loads(sys.argv[1])
provider = os.environ["PROVIDER_URL"]
front_end = registration["frontEnd"]
client_parameters = {"client_id": registration["clientId"], "redirect_uri": registration["redirectUri"]}

app = FastAPI()
app.add_middleware(
    CORSMiddleware,
    allow_origins=[front_end],
    allow_credentials=True,
    allow_methods=["*"],
    allow_headers=["*"],
)
client = httpx.AsyncClient(
    headers={"Accept": "application/json"},
    limits=httpx.Limits(max_connections=256, max_keepalive_connections=256),
)


@app.get("/auth/provider")
async def start_login():
    query = {"response_type": "code", **client_parameters}
    return RedirectResponse(f"{provider}/authorize?{urlencode(query)}")


@app.get("/auth/provider/callback")
async def login_callback(code: str):
    secret = registration["clientSecret"]
    parameters = {**client_parameters, "client_secret": secret, "code": code}
    answer = await client.post(f"{provider}/token", params=parameters)
    if answer.status_code != 200:
        raise HTTPException(400, "token retrieval failed")
    token = answer.json().get("access_token")
    if not token:
        raise HTTPException(400, "token empty")
    return RedirectResponse(f"{front_end}/?{urlencode({'access_token': token})}")


@app.get("/api/user")
async def current_user(authorization: str | None = Header(None)):
    if authorization is None:
        raise HTTPException(401, "no credentials supplied")
    token = authorization.split(" ")[1]
    answer = await client.get(f"{provider}/user", headers={"Authorization": f"Bearer {token}"})
    if answer.status_code != 200:
        raise HTTPException(401, "token invalid")
    return Response(answer.content, media_type="application/json")


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
print(json.dumps({"address": f"http://127.0.0.1:{listener.getsockname()[1]}"}, separators=(",", ":")), flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_keep_alive=75)).run([listener])
