"""perfq: performance qualification for Kubernetes clients and control planes.

`perfq.Plan` is public; it is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Plan", "__version__"]

if TYPE_CHECKING:
    from perfq._core import Plan


def __getattr__(name: str) -> Any:
    if name == "Plan":
        from perfq._core import Plan

        return Plan
    raise AttributeError(f"module 'perfq' has no attribute {name!r}")
