"""Texts and rules that differ by release."""


def minor_version(version: str) -> int:
    """37 of ``1.37``; 99 where nobody says."""
    return int((version or "0.99").split(".")[1])
