"""An API server as a kubeconfig names it: where it is, whom it trusts, how one is let in."""

from __future__ import annotations

import contextlib
import os
import ssl
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from perfq.errors import UsageError

if TYPE_CHECKING:
    import urllib3

    from perfq.kube.credential import Credential

__all__ = ["Endpoint", "is_loopback", "proxy_for"]


def is_loopback(url: str) -> bool:
    """Whether the URL's host is this machine, by its name or address alone."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _in_no_proxy(host: str, no_proxy: str) -> bool:
    for entry in (part.strip().lower().lstrip(".") for part in no_proxy.split(",")):
        if entry and (entry in ("*", host) or host.endswith(f".{entry}")):
            return True
    return False


def proxy_for(url: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """The proxy that the environment names for a URL; never one for loopback, or what NO_PROXY holds."""
    parts = urlsplit(url)
    no_proxy = environment.get("NO_PROXY") or environment.get("no_proxy") or ""
    if is_loopback(url) or _in_no_proxy((parts.hostname or "").lower(), no_proxy):
        return None
    name = f"{parts.scheme}_proxy"
    return environment.get(name.upper()) or environment.get(name) or None


@dataclass(frozen=True)
class Endpoint:
    """A cluster and a user. `origins` says which file each value came from."""

    #: Scheme, host, port and base path, without a slash at the end.
    url: str
    context: str
    namespace: str
    credential: Credential
    #: PEM; None for the system's own authorities.
    ca_pem: str | None = None
    insecure: bool = False
    tls_server_name: str | None = None
    proxy_url: str | None = None
    origins: Mapping[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def host(self) -> str:
        """Host and port, for people."""
        return urlsplit(self.url).netloc

    def proxy(self, environment: Mapping[str, str] = os.environ) -> str | None:
        """The proxy to go through; never one for loopback."""
        if self.proxy_url and not is_loopback(self.url):
            return self.proxy_url
        return proxy_for(self.url, environment)

    def headers(self) -> Mapping[str, str]:
        """The credential as headers; refreshed where it is about to expire (one call at a time)."""
        with self._lock:
            return self.credential.headers()

    def refresh(self) -> bool:
        """A new credential after a 401; False where there is none to get."""
        with self._lock:
            return self.credential.refresh()

    def ssl_context(self) -> ssl.SSLContext:
        """Trusts the cluster's authority, carries the user's certificate. UsageError where not PEM."""
        try:
            context = ssl.create_default_context(cadata=self.ca_pem)
        except ssl.SSLError as error:
            where = self.origins.get("certificate-authority", "the kubeconfig")
            raise UsageError(f"{where}: the cluster's certificate authority is not PEM ({error.reason})") from error
        # kubectl takes authorities without the extensions that newer Pythons ask for.
        context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        pair = self.credential.client_certificate()
        if pair is not None:
            certificate, key = pair
            try:
                with _private_file(certificate) as chain, _private_file(key) as private:
                    context.load_cert_chain(chain, private, password=b"")
            except (ssl.SSLError, ValueError, OSError) as error:
                where = self.origins.get("client-certificate", "the kubeconfig")
                raise UsageError(f"{where}: the client certificate and key do not fit or are not PEM") from error
        return context

    def pool(self, **options: Any) -> urllib3.PoolManager:
        """A pool of connections (urllib3) that trusts and authenticates as the kubeconfig says."""
        import urllib3

        if self.url.startswith("https:"):
            options["ssl_context"] = self.ssl_context()
            if self.insecure:
                options["cert_reqs"] = "CERT_NONE"
                urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
            if self.tls_server_name:
                options |= {"server_hostname": self.tls_server_name, "assert_hostname": self.tls_server_name}
        proxy = self.proxy()
        return urllib3.ProxyManager(proxy, **options) if proxy else urllib3.PoolManager(**options)


@contextlib.contextmanager
def _private_file(text: str) -> Iterator[str]:
    """Text as a file that only this process can open (`ssl` reads certificates from files alone)."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("perfq", os.MFD_CLOEXEC)
        try:
            os.write(fd, text.encode())
            yield f"/proc/self/fd/{fd}"
        finally:
            os.close(fd)
    else:
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(text)
            file.flush()
            yield file.name
