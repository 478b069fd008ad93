"""Short ways to write URDF in tests."""

from __future__ import annotations

from collections.abc import Sequence

BODIES = {
    "box": '<inertial><origin xyz="0.03 -0.07 0.11" rpy="0.3 -0.4 1.2"/><mass value="2.5"/>'
    '<inertia ixx="0.031" ixy="0.002" ixz="-0.004" iyy="0.027" iyz="0.003" izz="0.019"/></inertial>',
    "rod": '<inertial><origin xyz="0 0.02 0.2"/><mass value="1.2"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.021" iyz="0.001" izz="0.002"/></inertial>',
    "ball": '<inertial><origin xyz="-0.05 0.01 0.02" rpy="1 2 3"/><mass value="0.4"/>'
    '<inertia ixx="0.003" ixy="1e-4" ixz="2e-4" iyy="0.0035" iyz="-1e-4" izz="0.002"/></inertial>',
    "": "",
}


def link(name: str, body: str = "box") -> str:
    """A link with one of the bodies above."""
    return f'<link name="{name}">{BODIES[body]}</link>'


def joint(
    name: str,
    parent: str,
    child: str,
    kind: str = "revolute",
    *,
    xyz: str = "0 0 0",
    rpy: str = "0 0 0",
    axis: str | None = "0 0 1",
    more: str = "",
) -> str:
    """A joint between two links."""
    line = "" if axis is None else f'<axis xyz="{axis}"/>'
    limit = '<limit lower="-2" upper="3" effort="40" velocity="5"/>' if "<limit" not in more else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/>{line}{limit}{more}</joint>'
    )


def robot(*parts: str, name: str = "arm") -> str:
    """A whole URDF."""
    return f'<?xml version="1.0"?>\n<robot name="{name}">\n' + "\n".join(parts) + "\n</robot>\n"


def chain(kinds: Sequence[str] = ("revolute", "revolute")) -> str:
    """A plain chain base → l1 → l2 … with joints j1, j2 …"""
    parts = [link("base", "")]
    parents = ["base", *(f"l{i + 1}" for i in range(len(kinds)))]
    for i, kind in enumerate(kinds):
        parts.append(link(f"l{i + 1}"))
        parts.append(joint(f"j{i + 1}", parents[i], f"l{i + 1}", kind, xyz="0.1 0 0.2"))
    return robot(*parts)
