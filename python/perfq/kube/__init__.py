"""Where an API server is and how one is let in. The only package that imports `kubernetes`."""

from __future__ import annotations

from perfq.kube.asking import priority_levels, read_metrics
from perfq.kube.endpoint import Endpoint, is_loopback
from perfq.kube.kubeconfig import Kubeconfig, connect
from perfq.kube.server_facts import ServerFacts, only_loopback, server_facts

__all__ = [
    "Endpoint",
    "Kubeconfig",
    "ServerFacts",
    "connect",
    "is_loopback",
    "only_loopback",
    "priority_levels",
    "read_metrics",
    "server_facts",
]
