"""What is known of a payload, from a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dynid.calibration.knowledge import PayloadKnowledge
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.files import naming_file, read_toml
from dynid.core.keys import key
from dynid.core.tables import table_from
from dynid.model.file_frames import frame_on_carrier
from dynid.model.inertia import LinkInertia
from dynid.model.payload import LABEL
from dynid.model.robot import Robot


@dataclass(frozen=True)
class PayloadFile:
    """The keys of a payload file."""

    mass: float | None = key("mass as weighed", None, unit="kg", above=0)
    com: tuple[float, float, float] | None = key("centre of mass; needs mass", None, unit="m")
    inertia: tuple[float, float, float, float, float, float] | None = key(
        "[XX, XY, XZ, YY, YZ, ZZ] about the centre of mass; needs mass and com", None, unit="kg m²"
    )
    link: str | None = key(
        "link or body of the robot's file in whose frame com and inertia are",
        None,
        absent="dynid's frame of the joint that carries the payload, z along its axis",
    )
    values: Mapping[str, float] = key(
        "known parameters by name, such as MZL, in dynid's frame; they override those above", factory=dict
    )
    sigma: Mapping[str, float] = key(
        "standard deviations of known parameters by name; that of ML, where com is given, is a share of all",
        factory=dict,
    )
    bounds: Mapping[str, tuple[float, float]] = key(
        "least and largest value of parameters by name, for the constrained method", factory=dict
    )

    def knowledge(self, rotation: FloatArray, position: FloatArray) -> PayloadKnowledge:
        """What the file says, as parameters by name.

        Args:
            rotation: R of the frame that com and inertia are in, on the joint's frame.
            position: p of its origin there [m].
        """
        if self.com is not None and self.mass is None:
            raise DynidError("com is given without mass; give both.")
        if self.inertia is not None and self.com is None:
            raise DynidError("inertia is given without com; give mass, com and inertia.")
        if self.mass is not None and f"M{LABEL}" in self.values:
            raise DynidError(f"mass (or --mass) and M{LABEL} of [values] are both given; keep one.")
        found = {} if self.mass is None else {f"M{LABEL}": self.mass}
        if self.mass is not None and self.com is not None:
            xx, xy, xz, yy, yz, zz = self.inertia or (0.0,) * 6
            tensor = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
            body = LinkInertia.from_com(self.mass, self.com, tensor, "payload").expressed_in(
                rotation, position
            )
            known = body.by_name(LABEL)
            shown = tuple(known)[6:] if self.inertia is None else tuple(known)  # first moments and mass only
            found = {name: known[name] for name in shown}
        values, mass = {**found, **self.values}, f"M{LABEL}"
        if self.com is None or mass not in self.sigma:
            return PayloadKnowledge(values, self.sigma, self.bounds)
        # com and inertia were multiplied by the mass, so that its error is theirs.
        rest = {name: sigma for name, sigma in self.sigma.items() if name != mass}
        return PayloadKnowledge(values, rest, self.bounds, self.sigma[mass] / values[mass])


def load_payload_file(
    path: str | Path,
    mass: float | None = None,
    sigma: float | None = None,
    *,
    robot: Robot | None = None,
    carrier: str | None = None,
) -> PayloadKnowledge:
    """Read what is known of a payload.

    Args:
        path: TOML file; its keys are described in ``docs/gains.md``.
        mass: weighed mass that stands for that of the file [kg].
        sigma: its standard deviation [kg]; that of the file, or 0, when None.
        robot: whose links the file may name.
        carrier: name of the joint whose link carries the payload; the last joint when None.
    """
    file = Path(path)
    content = read_toml(file, "payload file")
    with naming_file(file, "Payload file"):
        table = table_from(content, PayloadFile)
        if mass is not None:
            own = {} if sigma is None else {f"M{LABEL}": sigma}
            table = replace(table, mass=mass, sigma={**table.sigma, **own})
        if table.link is None:
            return table.knowledge(np.eye(3), np.zeros(3))
        if robot is None:
            raise DynidError(f"link is {table.link!r}, and no robot was given that would have it.")
        held = frame_on_carrier(robot, carrier, table.link)
        return table.knowledge(held.rotation, held.position)
