"""Where an API server is and how one is let in. The only package that imports `kubernetes`."""

from __future__ import annotations

from perfq.kube.endpoint import Endpoint, is_loopback
from perfq.kube.kubeconfig import Kubeconfig, connect

__all__ = ["Endpoint", "Kubeconfig", "connect", "is_loopback"]
