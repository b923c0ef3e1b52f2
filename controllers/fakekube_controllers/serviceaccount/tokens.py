"""Fills the Secrets in which somebody wants a service account's token, and removes them with the
account.

A Secret of type ``kubernetes.io/service-account-token`` names an account in an annotation. It gets
a token, the namespace and the cluster's CA; without its account it goes. Upstream:
tokens_controller.go. Left out: tokens without an end; these end after 136 years, since they come
from a TokenRequest.
"""

import base64
from typing import NamedTuple

from fakekube.apimachinery import meta
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import SECRETS, SERVICE_ACCOUNTS
from fakekube.runtime.context import Context
from fakekube.workqueue.queue import WorkQueue
from fakekube_controllers.serviceaccount import is_token

NAME_KEY, UID_KEY = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"
LONGEST_SECONDS = 1 << 32  # what a TokenRequest may ask for at most


class Key(NamedTuple):
    """A Secret and the account that it names, by what they were when it was seen."""

    namespace: str
    name: str
    uid: str
    account: str
    account_uid: str  # "" before the Secret was filled


class TokenReconciler:
    """Fills or removes one Secret.

    ``root_ca`` among the context's options is the CA's certificate, in PEM.
    """

    queue: WorkQueue[Key]

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client = ctx, ctx.client
        self.secrets, self.accounts = ctx.lister(SECRETS), ctx.lister(SERVICE_ACCOUNTS)
        self.certificate = str(ctx.options.get("root_ca", ""))

    def setup(self, queue: WorkQueue[Key]) -> None:
        """Watch Secrets, and the deletion of service accounts."""
        self.queue = queue
        self.ctx.add_handler(SECRETS, self._seen, lambda _, new: self._seen(new), self._seen)
        self.ctx.add_handler(SERVICE_ACCOUNTS, on_delete=self._account_gone)

    def _seen(self, secret: Tree) -> None:
        if is_token(secret):
            notes = meta.annotations_of(secret)
            self.queue.add(Key(
                meta.namespace_of(secret), meta.name_of(secret), meta.uid_of(secret), notes.get(NAME_KEY, ""),
                notes.get(UID_KEY, "")))

    def _account_gone(self, account: Tree) -> None:
        for secret in self.secrets.list(meta.namespace_of(account)):
            if meta.annotations_of(secret).get(NAME_KEY) == meta.name_of(account):
                self._seen(secret)

    async def reconcile(self, key: Key) -> None:
        """Fill a Secret, or remove what its account has no use for any more. Raises APIError."""
        secret = self.secrets.get(key.namespace, key.name)
        account = await self._account(key)
        if secret is None or meta.uid_of(secret) != key.uid:
            if account is not None:
                await self._drop_reference(account, key.name)
        elif account is None:
            await self._delete(key)
        else:
            await self._fill(secret, account)

    async def _account(self, key: Key) -> Tree | None:
        """The account that is meant; asked of the server where the cache has not seen it."""
        found = self.accounts.get(key.namespace, key.account)
        if found is None:
            found = await self.client.get(SERVICE_ACCOUNTS, key.account, key.namespace, missing_ok=True)
        return found if found is not None and key.account_uid in ("", meta.uid_of(found)) else None

    async def _delete(self, key: Key) -> None:
        try:
            await self.client.delete(SECRETS, key.name, key.namespace, uid=key.uid, missing_ok=True)
        except APIError as error:
            if error.code != 409:
                raise

    async def _fill(self, cached: Tree, account: Tree) -> None:
        wanted = self._lacking(cached)
        if not wanted:
            return
        secret = await self.client.get(SECRETS, meta.name_of(cached), meta.namespace_of(cached), missing_ok=True)
        if secret is None or meta.resource_version_of(secret) != meta.resource_version_of(cached):
            return  # another event is on its way
        if "token" in wanted:
            wanted["token"] = _encoded(await self._token(secret, account))
        notes = {**meta.annotations_of(secret), NAME_KEY: meta.name_of(account), UID_KEY: meta.uid_of(account)}
        data = {**(secret.get("data") or {}), **wanted}
        try:
            await self.client.update(
                SECRETS, {**secret, "metadata": {**secret["metadata"], "annotations": notes}, "data": data})
        except APIError as error:
            if error.code not in (404, 409):
                raise

    def _lacking(self, secret: Tree) -> dict[str, str]:
        """What a Secret has yet to hold, encoded; of the token only that it is wanted."""
        data = secret.get("data") or {}
        ready = {"namespace": _encoded(meta.namespace_of(secret)), "token": ""}
        wanted = {name: text for name, text in ready.items() if not data.get(name)}
        if self.certificate and data.get("ca.crt") != _encoded(self.certificate):
            wanted["ca.crt"] = _encoded(self.certificate)
        return wanted

    async def _token(self, secret: Tree, account: Tree) -> str:
        bound = {"apiVersion": "v1", "kind": "Secret", "name": meta.name_of(secret), "uid": meta.uid_of(secret)}
        answer = await self.client.create_token(
            meta.name_of(account), meta.namespace_of(account),
            {"expirationSeconds": LONGEST_SECONDS, "boundObjectRef": bound})
        return str(answer["status"]["token"])

    async def _drop_reference(self, account: Tree, name: str) -> None:
        """Let an account no longer list a Secret that is gone. A conflict is tried again."""
        listed = account.get("secrets") or []
        kept = [reference for reference in listed if reference.get("name") != name]
        if len(kept) != len(listed):
            version = meta.resource_version_of(account)
            body = {"metadata": {"resourceVersion": version}, "secrets": kept or None}
            await self.client.patch(SERVICE_ACCOUNTS, meta.name_of(account), meta.namespace_of(account), body)


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
