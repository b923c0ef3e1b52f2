"""Objects as people name them: ``pod/web-0``, ``jobs.batch/report``."""

from typing import TYPE_CHECKING

from fakekube.apimachinery import errors

if TYPE_CHECKING:
    from fakekube.client.client import Client
    from fakekube.client.resources import Resource


async def object_named(client: "Client", what: str) -> "tuple[Resource, str]":
    """The resource and the name of an object, named as kubectl does.

    It need not exist. Raises APIError 400 where the text names no resource that is served.
    """
    kind, slash, name = what.partition("/")
    if not slash or not kind or not name or "/" in name:
        raise errors.bad_request(f"{what!r} names no object: say pod/NAME or job/NAME")
    try:
        return await client.resource(kind), name
    except KeyError as error:
        raise errors.bad_request(str(error.args[0])) from error
