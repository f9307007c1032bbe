"""The command lines of etcd and kube-apiserver, and the API server's audit policy."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

from .credentials import Credentials

AUDIT_LEVELS = ("None", "Metadata", "Request", "RequestResponse")
#: etcd on sockets in the bed's folder, named relative to it: nobody else reaches them, no port is taken, and the
#: path of the folder may be longer than a socket's name can be. etcd wants a port in it, which then is part of it.
_CLIENTS, _PEERS = "unix://etcd.sock:1", "unix://peer.sock:1"


@dataclass(frozen=True)
class Options:
    """What may differ between test beds."""

    #: Of every request; the log stands in the bed's folder where no path is given.
    audit_level: str = "RequestResponse"
    audit_log: str | None = None
    #: Needs a ServiceAccount `default` in each namespace, which only a controller manager would make.
    service_account_admission: bool = False
    #: Further arguments of kube-apiserver, which win over those here.
    api_server_arguments: list[str] = field(default_factory=list)

    @property
    def as_json(self) -> dict[str, object]:
        """For the record of a bed."""
        return asdict(self)

    def audit_log_in(self, folder: Path) -> Path:
        """The path of the audit log, absolute."""
        return folder / "audit.log" if self.audit_log is None else Path(self.audit_log).absolute()


def etcd(program: Path) -> list[str | Path]:
    """One member, run in the bed's folder. Nothing has to outlive a power cut, so nothing is synced to the disk."""
    return [
        program,
        "--name=testbed",
        "--data-dir=etcd",
        f"--listen-client-urls={_CLIENTS}",
        f"--advertise-client-urls={_CLIENTS}",
        f"--listen-peer-urls={_PEERS}",
        f"--initial-advertise-peer-urls={_PEERS}",
        f"--initial-cluster=testbed={_PEERS}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def audit_policy(level: str) -> str:
    """Every request at one level, in all stages."""
    return f"apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: {level}\n"


def api_server(program: Path, port: int, credentials: Credentials, options: Options) -> list[str | Path]:
    """kube-apiserver on one port of 127.0.0.1, run in the bed's folder, which holds audit-policy.yaml."""
    files = credentials.folder
    return [
        program,
        f"--etcd-servers={_CLIENTS}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        # There is nobody whom the address would have to be told; a loopback one would be refused.
        "--endpoint-reconciler-type=none",
        f"--tls-cert-file={files}/server.crt",
        f"--tls-private-key-file={files}/server.key",
        f"--client-ca-file={files}/ca.crt",
        f"--token-auth-file={files}/tokens.csv",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://perfq-testbed.invalid",
        f"--service-account-signing-key-file={files}/accounts.key",
        f"--service-account-key-file={files}/accounts.pub",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--audit-policy-file=audit-policy.yaml",
        "--audit-log-path=audit.log" if options.audit_log is None else f"--audit-log-path={options.audit_log}",
        # One file of any length: what a test counts must not have been rotated away.
        "--audit-log-maxsize=1000000",
        *([] if options.service_account_admission else ["--disable-admission-plugins=ServiceAccount"]),
        *options.api_server_arguments,
    ]
