"""Where the load goes: the embedded server, or a server on this machine that a context names.

Any other cluster is refused before the first byte: load on one, reads included, takes a contract.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from perfq.errors import GuardRefused, UsageError
from perfq.measure.manifest import TargetFacts

if TYPE_CHECKING:
    from perfq._core import Plan
    from perfq.kube import Endpoint

#: What the embedded server holds where no other profile is named.
DEFAULT_SERVED = "smoke-1k"


@dataclass(frozen=True)
class Target:
    """One of the two: `plan`, what the embedded server holds, or `endpoint`, a server that is there."""

    facts: TargetFacts
    plan: Plan | None = None
    endpoint: Endpoint | None = None
    #: Nothing that anyone else depends on: our own server, or a test bed.
    is_ours: bool = True
    #: A line for people: which server, which cluster.
    shown: str = field(default="")

    def engine_options(self) -> dict[str, Any]:
        """The `endpoint` of the engine. Of a server that is there alone; the embedded one is not started yet."""
        assert self.endpoint is not None
        return endpoint_options(self.endpoint)

    def token(self) -> Callable[[], str | None]:
        """What gives the bearer token of now."""
        endpoint = self.endpoint
        return lambda: None if endpoint is None else bearer_of(endpoint.headers())


def find_target(given: Mapping[str, Any]) -> Target:
    """What `--context`, `--kubeconfig` and `--serve` name.

    UsageError (2) for flags that do not go together, GuardRefused (5) for a server elsewhere, TargetUnreachable (7).
    """
    context, kubeconfig, served = given["context"], given["kubeconfig"], given["serve"]
    if served is not None and (context is not None or kubeconfig is not None):
        raise UsageError("--serve and --context: give one of them; --serve is for the embedded server")
    if context is None and kubeconfig is None:
        return _embedded(served or DEFAULT_SERVED)
    return _named(context, kubeconfig)


def refuse_writes(target: Target, *, writes: bool, yes: bool) -> None:
    """GuardRefused (5) for writes to a server that may be anybody's, unless `--yes` was given."""
    if writes and not target.is_ours and not yes:
        raise GuardRefused(
            f"this load writes, and {target.shown} is neither perfq's own server nor a test bed (a tunnel to another "
            "cluster is on this machine, too); give --yes where it may be written to"
        )


def _embedded(profile: str) -> Target:
    from perfq._core import Plan
    from perfq.profile.workload import resolve_profile

    plan = Plan(resolve_profile(profile).to_json())
    shown = f"the embedded server, in this process ({plan.objects:,} Pods of {plan.id})"
    return Target(TargetFacts(kind="embedded", tls=True), plan=plan, shown=shown)


def _named(context: str | None, kubeconfig: str | None) -> Target:
    from perfq.kube import Kubeconfig, only_loopback, server_facts

    found = Kubeconfig.locate(kubeconfig)
    if found is None:
        raise UsageError("no kubeconfig: name one with --kubeconfig or KUBECONFIG, or put one at ~/.kube/config")
    if context is None:
        known = ", ".join(found.contexts) or "none"
        raise UsageError(f"--kubeconfig: name the target as well, with --context (known: {known})")
    endpoint = found.endpoint(context)
    if not only_loopback(endpoint.url):
        raise GuardRefused(
            f"context {context} is at {endpoint.url}, which is not on this machine: load on another cluster, reads "
            "included, takes a contract, and this perfq can make none yet; nothing was sent"
        )
    server = server_facts(endpoint)
    facts = TargetFacts(
        kind="cluster",
        server=endpoint.url,
        tls=endpoint.url.startswith("https:"),
        cluster_id=server.cluster_id,
        version=server.version,
    )
    identified = f"cluster {server.cluster_id or 'without an id'}, {server.version or 'no version'}"
    return Target(facts, endpoint=endpoint, is_ours=server.is_ours, shown=f"{endpoint.url} ({identified})")


def endpoint_options(endpoint: Endpoint) -> dict[str, Any]:
    """An endpoint of a kubeconfig as the engine takes it; its credential as it is now."""
    headers = dict(endpoint.headers())
    token = bearer_of(headers)
    pair = endpoint.credential.client_certificate()
    return {
        "url": endpoint.url,
        "ca_pem": endpoint.ca_pem,
        "insecure": endpoint.insecure,
        "client_cert_pem": None if pair is None else pair[0],
        "client_key_pem": None if pair is None else pair[1],
        "token": token,
        "server_name": endpoint.tls_server_name,
        "headers": {} if token is not None else headers,
    }


def bearer_of(headers: Mapping[str, str]) -> str | None:
    """The bearer token among a credential's headers."""
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    return token if scheme == "Bearer" and token else None
