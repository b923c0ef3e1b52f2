"""The secrets of a cluster, and who it knows by them.

They are the administrator's token, the tokens of others, the certificate authority, and what
tokens of service accounts are signed with. They stay while the cluster is reset or goes back to a
snapshot, as the files do that a kube-apiserver is started with. Without ``--tls`` they follow from
the seed, so that one seed gives one history; with it, nobody can guess them.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from fakekube.apimachinery import namespace_defaults
from fakekube.auth.authenticator import ADMIN, Credentials
from fakekube.auth.authorizer import ANONYMOUS
from fakekube.auth.modes import OPEN
from fakekube.client import users
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.util.rng import Rng

if TYPE_CHECKING:
    from fakekube.apimachinery.http import UserInfo
    from fakekube.util.certificates import CertificateAuthority, Signed

FRONT_PROXY = "front-proxy-client"
"""The name that aggregated API servers believe when it tells them who asks."""


class Identity:
    """``token`` is the administrator's, ``tokens`` are all that are known from the beginning.

    Raises OptionError for files that cannot be used, and for
    TLS without the packages that it needs.
    """

    def __init__(self, options: ClusterOptions) -> None:
        self.has_tls = options.tls
        if options.tls:
            rng = Rng.unpredictable()
            self.token = f"fakekube-{rng.fork('token').uid()}"
        else:
            rng = Rng(options.seed)
            self.token = f"fakekube-{rng.fork('token').suffix(16)}"
        self._secret = rng.fork("secret").uid().encode()
        self._anonymous, self._is_open = options.anonymous_auth, options.authorization_mode == OPEN
        self.tokens: dict[str, UserInfo] = {self.token: users.admin()}
        if options.token_auth_file:
            from fakekube.composition.tokenfile import read

            self.tokens = read(options.token_auth_file) | self.tokens
        given = _client_authorities(options.client_ca_file)
        self.client_authorities = f"{given}{self.authority.certificate}" if options.tls else given
        """Who signs for clients, in PEM; empty for nobody."""

    @cached_property
    def authority(self) -> "CertificateAuthority":
        """The cluster's own. Raises OptionError where the packages for it are not installed."""
        from fakekube.util import certificates

        if not certificates.is_available():
            raise OptionError(f"tls: {certificates.MISSING}")
        return certificates.CertificateAuthority(self._secret)

    @property
    def credentials(self) -> Credentials:
        """What the API server knows of all that."""
        nobody = None if self._anonymous is False else ADMIN if self._anonymous is None and self._is_open else ANONYMOUS
        return Credentials(self.tokens, self._secret, nobody, self._is_open)

    def token_for(self, user: "UserInfo") -> str:
        """A token that names somebody from now on; the same one again for the same user."""
        import hmac

        text = "\n".join((user.name, *user.groups)).encode()
        token = f"fakekube-{hmac.digest(self._secret, text, 'sha256').hex()[:32]}"
        self.tokens[token] = user
        return token

    def find_authority(self) -> "CertificateAuthority | None":
        """The same; None where the packages are not installed."""
        from fakekube.util import certificates

        return self.authority if certificates.is_available() else None

    def front_proxy(self) -> "Signed | None":
        """What the API server shows to aggregated ones, which know its signer from the ConfigMap
        ``extension-apiserver-authentication``; None without TLS.
        """
        if not self.has_tls:
            return None
        from fakekube.util import certificates

        valid = certificates.FIRST.timestamp(), certificates.LAST.timestamp()
        return self.authority.client(FRONT_PROXY, valid=valid)

    @property
    def root_ca(self) -> str:
        """The certificate that ``kube-root-ca.crt`` publishes, in PEM."""
        return self.authority.certificate if self.has_tls else namespace_defaults.CERTIFICATE


def _client_authorities(name: str) -> str:
    """What is in the file of the option. Raises OptionError."""
    if not name:
        return ""
    from pathlib import Path

    try:
        text = Path(name).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"client_ca_file: {name}: {error}") from error
    if "-----BEGIN CERTIFICATE-----" not in text:
        raise OptionError(f"client_ca_file: {name} holds no certificate in PEM")
    return text if text.endswith("\n") else f"{text}\n"
