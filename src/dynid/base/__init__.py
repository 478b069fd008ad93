"""Which parameters can be seen: base parameters by QR and by closed-form rules."""

from dynid.base.base_map import BaseMap
from dynid.base.find import find_base, joint_bases

__all__ = ["BaseMap", "find_base", "joint_bases"]
