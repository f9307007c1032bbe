"""What the API server and its clients prove themselves with: a CA, certificates, keys, tokens; made anew for each bed.

Made by the openssl command, which is where Kubernetes' users have it from: no Python package is needed for it.
"""

from __future__ import annotations

import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .failure import BedFailure

#: Ample for a test bed and short enough that a forgotten key opens nothing for long.
DAYS = "30"
#: Members may do anything.
ADMINISTRATORS = "system:masters"
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_BY_CA = ("-CA", "ca.crt", "-CAkey", "ca.key")
_LEAF = "basicConstraints=critical,CA:FALSE"
#: Of our own, so that the host's settings add nothing.
_SETTINGS = "openssl.cnf"


@dataclass(frozen=True)
class Credentials:
    """Paths in `folder`, and the tokens of two users: one may do anything, the other nothing but discovery."""

    folder: Path
    admin_token: str
    nobody_token: str

    @property
    def ca(self) -> Path:
        """The certificate that has signed all others."""
        return self.folder / "ca.crt"

    @staticmethod
    def make(folder: Path) -> Credentials:
        """Makes all of it; `folder` must not exist yet."""
        if shutil.which("openssl") is None:
            raise BedFailure("openssl was not found; install it (Debian: apt-get install openssl) and try again", 78)
        folder.mkdir(mode=0o700)
        (folder / _SETTINGS).write_text("[req]\ndistinguished_name=subject\n[subject]\n")
        _certificate(folder, "ca", "/CN=perfq-testbed", ("basicConstraints=critical,CA:TRUE", "keyUsage=keyCertSign"))
        names = "subjectAltName=IP:127.0.0.1,DNS:localhost"
        _certificate(folder, "server", "/CN=kube-apiserver", (_LEAF, "extendedKeyUsage=serverAuth", names), _BY_CA)
        client = f"/O={ADMINISTRATORS}/CN=admin-by-certificate"
        _certificate(folder, "client", client, (_LEAF, "extendedKeyUsage=clientAuth"), _BY_CA)
        # ServiceAccount tokens are signed with the one and verified with the other.
        _openssl(folder, "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "accounts.key")
        _openssl(folder, "pkey", "-in", "accounts.key", "-pubout", "-out", "accounts.pub")
        made = Credentials(folder, secrets.token_hex(16), secrets.token_hex(16))
        tokens = folder / "tokens.csv"
        tokens.touch(mode=0o600)
        tokens.write_text(f'{made.admin_token},admin,admin,"{ADMINISTRATORS}"\n{made.nobody_token},nobody,nobody\n')
        return made


def _certificate(
    folder: Path, name: str, subject: str, extensions: tuple[str, ...], signed_by: tuple[str, ...] = ()
) -> None:
    added = [part for extension in extensions for part in ("-addext", extension)]
    _openssl(
        folder, "req", "-x509", "-config", _SETTINGS, *_KEY, "-subj", subject, "-days", DAYS, *added, *signed_by,
        "-keyout", f"{name}.key", "-out", f"{name}.crt",
    )  # fmt: skip


def _openssl(folder: Path, *arguments: str) -> None:
    ended = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise BedFailure(f"openssl {arguments[0]} failed: {ended.stderr.strip()}")
