"""What is known of a payload, from a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from dynid.calibration.knowledge import PayloadKnowledge
from dynid.core.errors import DynidError
from dynid.core.files import naming_file, read_toml
from dynid.core.keys import key
from dynid.core.tables import table_from
from dynid.model.inertia import LinkInertia
from dynid.model.payload import LABEL


@dataclass(frozen=True)
class PayloadFile:
    """The keys of a payload file; all in dynid's frame of the joint that carries it, z along its axis."""

    mass: float | None = key("mass as weighed", None, unit="kg", above=0)
    com: tuple[float, float, float] | None = key("centre of mass; needs mass", None, unit="m")
    inertia: tuple[float, float, float, float, float, float] | None = key(
        "[XX, XY, XZ, YY, YZ, ZZ] about the centre of mass; needs mass and com", None, unit="kg m²"
    )
    values: Mapping[str, float] = key(
        "known parameters by name, such as MZL; they override those above", factory=dict
    )
    sigma: Mapping[str, float] = key(
        "standard deviations of known parameters by name; that of ML, where com is given, is a share of all",
        factory=dict,
    )
    bounds: Mapping[str, tuple[float, float]] = key(
        "least and largest value of parameters by name, for the constrained method", factory=dict
    )

    def knowledge(self) -> PayloadKnowledge:
        """What the file says, as parameters by name."""
        if self.com is not None and self.mass is None:
            raise DynidError("com is given without mass; give both.")
        if self.inertia is not None and self.com is None:
            raise DynidError("inertia is given without com; give mass, com and inertia.")
        found = {} if self.mass is None else {f"M{LABEL}": self.mass}
        if self.mass is not None and self.com is not None:
            found |= {f"M{axis}{LABEL}": self.mass * c for axis, c in zip("XYZ", self.com, strict=True)}
        if self.mass is not None and self.com is not None and self.inertia is not None:
            xx, xy, xz, yy, yz, zz = self.inertia
            tensor = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
            found = LinkInertia.from_com(self.mass, self.com, tensor, "payload").by_name(LABEL)
        values, mass = {**found, **self.values}, f"M{LABEL}"
        if self.com is None or mass not in self.sigma:
            return PayloadKnowledge(values, self.sigma, self.bounds)
        # com and inertia were multiplied by the mass, so that its error is theirs.
        rest = {name: sigma for name, sigma in self.sigma.items() if name != mass}
        return PayloadKnowledge(values, rest, self.bounds, self.sigma[mass] / values[mass])


def load_payload_file(path: str | Path, mass: float | None = None, sigma: float = 0.0) -> PayloadKnowledge:
    """Read what is known of a payload.

    Args:
        path: TOML file; its keys are described in ``docs/gains.md``.
        mass: weighed mass that stands for that of the file [kg].
        sigma: its standard deviation [kg].
    """
    file = Path(path)
    content = read_toml(file, "payload file")
    with naming_file(file, "Payload file"):
        table = table_from(content, PayloadFile)
        if mass is not None:
            table = replace(table, mass=mass, sigma={**table.sigma, f"M{LABEL}": sigma})
        return table.knowledge()
