"""Tokens of service accounts: whom they name, for how long, and which ones do not count."""

import base64
import hmac
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.authentication.conftest import ACCOUNTS, Server

ISSUER = "https://kubernetes.default.svc"
CRYPTO = "[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]"


def encoded(tree: Any) -> str:
    data = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> Any:
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


async def public_key(server: Server) -> tuple[rsa.RSAPublicKey, str]:
    """The key at /openid/v1/jwks, and its id."""
    [key] = (await server.send("GET", "/openid/v1/jwks")).tree["keys"]
    n, e = (int.from_bytes(base64.urlsafe_b64decode(key[name] + "=="), "big") for name in ("n", "e"))
    return rsa.RSAPublicNumbers(e, n).public_key(), key["kid"]


@pytest.mark.spec("API-135")
async def test_a_token_names_its_account(server: Server) -> None:
    """Given a token / when it is used and reviewed / then both name the account and the token's id.
    """
    token = await server.token()
    claims = decoded(token.split(".")[1])
    user = await server.who(token)
    assert user["username"] == "system:serviceaccount:t:bot"
    assert user["groups"] == ["system:serviceaccounts", "system:serviceaccounts:t", "system:authenticated"]
    assert user["extra"] == {"authentication.kubernetes.io/credential-id": [f"JTI={claims['jti']}"]}
    assert await server.review(token) == {"authenticated": True, "user": user, "audiences": [ISSUER]}
    assert (claims["iss"], claims["aud"], claims["exp"] - claims["iat"]) == (ISSUER, [ISSUER], 3600)


async def test_others_can_check_a_token(server: Server) -> None:
    """Given the keys that the server publishes / when a token is checked with them / then its
    signature is that of the key which its header names.
    """
    token, (key, key_id) = await server.token(), await public_key(server)
    text, _, signature = token.rpartition(".")
    assert decoded(text.split(".")[0]) == {"alg": "RS256", "kid": key_id}
    key.verify(base64.urlsafe_b64decode(signature + "=="), text.encode(), padding.PKCS1v15(), hashes.SHA256())
    found = (await server.send("GET", "/.well-known/openid-configuration", headers={"host": "127.0.0.1:6443"})).tree
    assert (found["issuer"], found["jwks_uri"]) == (ISSUER, "https://127.0.0.1:6443/openid/v1/jwks")
    assert found["id_token_signing_alg_values_supported"] == ["RS256"]


async def test_audiences(server: Server) -> None:
    """Given a token for others / when it is used here / then 401; when it is reviewed for one of
    them / then it counts for that one alone.
    """
    token = await server.token(audiences=["a", "b"])
    assert await server.who(token) == 401
    assert (await server.review(token))["error"] == (
        f'[invalid bearer token, token audiences ["a" "b"] is invalid for the target audiences ["{ISSUER}"]]')
    assert (await server.review(token, "b", "c"))["audiences"] == ["b"]


async def test_an_end(server: Server) -> None:
    """Given a token for ten minutes / when they have passed, and a minute more / then 401."""
    token = await server.token(expirationSeconds=600)
    server.clock.jump_to(server.clock.time() + 660)
    assert (await server.who(token))["username"] == "system:serviceaccount:t:bot"
    server.clock.jump_to(server.clock.time() + 1)
    assert await server.who(token) == 401
    assert (await server.review(token))["error"] == "[invalid bearer token, service account token has expired]"


@pytest.mark.parametrize(("kind", "path", "tree"), [
    ("Secret", "/api/v1/namespaces/t/secrets", {"metadata": {"name": "x"}}),
    ("Pod", "/api/v1/namespaces/t/pods", {
        "metadata": {"name": "x"}, "spec": {"serviceAccountName": "bot", "containers": [{"name": "c", "image": "i"}]}}),
    ("Node", "/api/v1/nodes", {"metadata": {"name": "x"}}),
])
async def test_what_a_token_is_bound_to(server: Server, kind: str, path: str, tree: Any) -> None:
    """Given a token that is bound to an object / when the object goes / then the token does, also
    when another one of that name comes.
    """
    made = await server.send("POST", path, tree)
    assert made.status == 201, made.tree
    token = await server.token(boundObjectRef={"apiVersion": "v1", "kind": kind, "name": "x"})
    user = await server.who(token)
    extra = {name.rpartition("/")[2]: value for name, value in user["extra"].items()}
    uid = made.tree["metadata"]["uid"]
    if kind != "Secret":
        assert (extra[f"{kind.lower()}-name"], extra[f"{kind.lower()}-uid"]) == (["x"], [uid])
    await server.send("DELETE", f"{path}/x", {"gracePeriodSeconds": 0})
    assert await server.who(token) == 401
    assert (await server.review(token))["error"] == "[invalid bearer token, service account token has been invalidated]"
    await server.send("POST", path, tree)
    assert f"{kind.lower()} UID (" in (await server.review(token))["error"]


async def test_the_node_of_a_pod(server: Server) -> None:
    """Given a pod on a node / when a token is bound to the pod / then it names the node too, and
    outlives it.
    """
    node = await server.send("POST", "/api/v1/nodes", {"metadata": {"name": "n"}})
    spec = {"serviceAccountName": "bot", "nodeName": "n", "containers": [{"name": "c", "image": "i"}]}
    await server.send("POST", "/api/v1/namespaces/t/pods", {"metadata": {"name": "p"}, "spec": spec})
    token = await server.token(boundObjectRef={"apiVersion": "v1", "kind": "Pod", "name": "p"})
    await server.send("DELETE", "/api/v1/nodes/n")
    extra = (await server.who(token))["extra"]
    assert extra["authentication.kubernetes.io/node-name"] == ["n"]
    assert extra["authentication.kubernetes.io/node-uid"] == [node.tree["metadata"]["uid"]]


async def test_the_kubelets_hour_is_a_year(server: Server) -> None:
    """Given a pod's token for 3607 seconds, as kubelets ask for / when those have passed / then it
    still counts, for a year.
    """
    spec = {"serviceAccountName": "bot", "containers": [{"name": "c", "image": "i"}]}
    await server.send("POST", "/api/v1/namespaces/t/pods", {"metadata": {"name": "p"}, "spec": spec})
    token = await server.token(
        expirationSeconds=3607, boundObjectRef={"apiVersion": "v1", "kind": "Pod", "name": "p"})
    claims = decoded(token.split(".")[1])
    assert claims["exp"] - claims["iat"] == 365 * 24 * 3600
    assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607


async def test_an_account_that_is_gone(server: Server) -> None:
    """Given a token / when its account goes, and comes again / then it is refused in upstream's
    words.
    """
    token = await server.token()
    await server.send("DELETE", f"{ACCOUNTS}/bot")
    assert await server.who(token) == 401
    assert (await server.review(token))["error"] == '[invalid bearer token, serviceaccounts "bot" not found]'
    await server.account()
    assert "service account UID (" in (await server.review(token))["error"]


async def test_forged_tokens(server: Server) -> None:
    """Given a good token / when its parts are changed, its algorithm is none, or it is signed with
    the public key as a secret, or by another key / then each is refused as one that is not signed.
    """
    token, (key, key_id) = await server.token(), await public_key(server)
    head, claims, signature = token.split(".")
    stolen = encoded(decoded(claims) | {"sub": "system:serviceaccount:kube-system:admin"})
    pem = key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    confused = f"{encoded({'alg': 'HS256', 'kid': key_id})}.{claims}"
    foreign = rsa.generate_private_key(65537, 2048).sign(f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
    for forged in (
        f"{head}.{stolen}.{signature}", f"{head}.{claims}.{signature[:-8]}", f"{head}.{claims}.",
        f"{encoded({'alg': 'none'})}.{claims}.", f"{encoded({'alg': 'none', 'kid': key_id})}.{claims}.{signature}",
        f"{confused}.{encoded(hmac.digest(pem, confused.encode(), 'sha256'))}", f"{head}.{claims}.{encoded(foreign)}",
        f"{encoded({'alg': 'RS256', 'kid': key_id, 'crit': ['x']})}.{claims}.{signature}",
    ):
        assert await server.who(forged) == 401, forged
        assert (await server.review(forged))["error"] == CRYPTO, forged
    other = f"{encoded({'alg': 'RS256', 'kid': 'other'})}.{claims}.{signature}"
    assert (await server.review(other))["error"] == "[invalid bearer token, invalid signature, no keys found]"


@pytest.mark.parametrize("token", [
    "x", "a.b.c", "...", "x.y", ".", "..", "a.!.c", "\udcff", "{}", "e30.e30.e30", "é.é.é", "a." + "A" * 100_000 + ".c",
    f"{encoded([1])}.{encoded({'iss': ISSUER})}.x", f"{encoded(7)}.{encoded({'iss': [ISSUER]})}.x",
    f"{encoded({'alg': 7, 'kid': []})}.{encoded({'iss': ISSUER})}.x", f"x.{encoded({'iss': ISSUER})}.x",
    f"{encoded({'alg': 'RS256'})}.{encoded({'iss': ISSUER})}.===", f"{encoded({'alg': 'RS256'})}.{encoded(b'[' * 5000)}.x",
])
async def test_what_is_no_token(server: Server, token: str) -> None:
    """Given what is no token of ours / when it is sent / then 401, never an error of the server."""
    assert await server.who(token) == 401


async def test_the_same_seed_signs_alike() -> None:
    """Given two clusters of one seed / when both issue a token / then their keys are the same; with
    another seed they are not.
    """
    keys = [(await public_key(Server(seed=seed)))[1] for seed in (1, 1, 2)]
    assert keys[0] == keys[1] != keys[2]
