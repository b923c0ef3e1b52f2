"""Endpoints are proven through the server that they are part of."""

from tests.apiserver.conftest import api

__all__ = ["api"]
