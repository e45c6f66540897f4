"""Equiscope's core: fields, groups, capture and the measurement of symmetry. Never imports Qt.

Code outside of the program imports `equiscope`, the public library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.equivariance import Report, check_equivariance, learn_action
    from explorer.spaces.grid.lie import lie_derivative

__all__ = ["Report", "check_equivariance", "learn_action", "lie_derivative"]


def __getattr__(name: str) -> Any:
    # the window imports explorer before torch has arrived, so the torch half is loaded when it is first named
    if name in __all__:
        import explorer.equivariance as equivariance
        import explorer.spaces.grid.lie as lie

        return getattr(lie if name == "lie_derivative" else equivariance, name)
    raise AttributeError(f"module 'explorer' has no attribute {name!r}")
