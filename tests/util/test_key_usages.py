"""What the key of a certificate may be used for."""

import pytest

from fakekube.util.certificates import _key_usage


@pytest.mark.parametrize("names", [
    (), ("digital_signature", "key_encipherment"), ("key_cert_sign", "crl_sign"), ("content_commitment", "data_encipherment"),
    ("key_agreement", "encipher_only"), ("key_agreement", "decipher_only")])
def test_a_key_may_be_used_for_what_is_named(names: tuple[str, ...]) -> None:
    """Given usages / when they become the extension of a certificate / then it has these alone."""
    usage = _key_usage(names)
    always = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
              "key_cert_sign", "crl_sign")
    agreed = ("encipher_only", "decipher_only") if "key_agreement" in names else ()
    assert {name for name in (*always, *agreed) if getattr(usage, name)} == set(names)
