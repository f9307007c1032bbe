"""perfq: performance qualification for Kubernetes clients and control planes.

`perfq.Plan`, `perfq.Sampler` and `perfq.TreeSampler` are public; they are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Plan", "Sampler", "TreeSampler", "__version__"]

if TYPE_CHECKING:
    from perfq._core import Plan, Sampler, TreeSampler


def __getattr__(name: str) -> Any:
    if name in ("Plan", "Sampler", "TreeSampler"):
        from perfq import _core

        return getattr(_core, name)
    raise AttributeError(f"module 'perfq' has no attribute {name!r}")
