"""The text of an MJCF model as one tree: includes expanded, settings gathered, default classes resolved."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from dynid.core.errors import FileError, ModelError, unknown_name
from dynid.model.loaders.xml_safe import MAX_ELEMENTS, keyword, number, numbers, read_xml, required_text
from dynid.model.robot import EARTH_GRAVITY


def expand_includes(root: Element, file: Path | None) -> Element:
    """Replace every ``<include file="..."/>`` by the content of that file.

    Args:
        root: the model; changed in place.
        file: where the model was read; None refuses includes.

    Raises:
        FileError: when an included file lies outside the model's folder, is named twice or is too large.
    """
    folder = None if file is None else file.resolve().parent
    seen = set() if file is None else {file.resolve()}
    _expand(root, folder, seen)
    return root


def _expand(element: Element, folder: Path | None, seen: set[Path]) -> None:
    for i in reversed(range(len(element))):
        child = element[i]
        if child.tag == "include":
            included = _included_root(child, folder, seen)
            _expand(included, folder, seen)
            element[i : i + 1] = list(included)
        else:
            _expand(child, folder, seen)


def _included_root(element: Element, folder: Path | None, seen: set[Path]) -> Element:
    name = required_text(element.attrib, "file", "<include>")
    if folder is None:
        raise FileError(
            f"The MJCF text includes {name!r}; give the path of the model file, so that its folder is known."
        )
    path = (folder / name).resolve()
    if not path.is_relative_to(folder):
        raise FileError(
            f"The included file {name!r} lies outside the model's folder; only files inside it are read."
        )
    if path in seen:
        raise FileError(f"The file {name!r} is included twice; MJCF allows it once.")
    seen.add(path)
    root = read_xml(path, "included MJCF file")
    if len(seen) * sum(1 for _ in root.iter()) > 10 * MAX_ELEMENTS:
        raise FileError(f"The included files of {name!r} are too large.")
    return root


@dataclass(frozen=True)
class Settings:
    """What ``<compiler>`` and ``<option>`` say about the reading of the model.

    Args:
        degrees: whether angles are in degrees.
        euler_sequence: axes of the euler angles.
        autolimits: whether a range alone limits a joint.
        inertia_from_geoms: "auto", "true" or "false".
        inertia_groups: first and last group of the geoms that carry mass.
        least_mass: lower bound of a body's mass [kg].
        least_inertia: lower bound of a body's principal moments [kg m²].
        balance: whether principal moments against the triangle inequality are replaced by their mean.
        gravity: [m/s²].
    """

    degrees: bool = True
    euler_sequence: str = "xyz"
    autolimits: bool = True
    inertia_from_geoms: str = "auto"
    inertia_groups: tuple[int, int] = (-(2**31), 2**31)
    least_mass: float = 0.0
    least_inertia: float = 0.0
    balance: bool = False
    gravity: tuple[float, float, float] = EARTH_GRAVITY

    def angle(self, value: float) -> float:
        """An angle of the file in rad."""
        return math.radians(value) if self.degrees else value


def section(root: Element, tag: str) -> Iterator[Element]:
    """Children of all sections of a name: MJCF lets a section be split."""
    for part in root.findall(tag):
        yield from part


def settings_of(root: Element) -> Settings:
    """Gather the settings; where a section is repeated, the last value holds."""
    compiler = _attributes_of_all(root, "compiler")
    where = "<compiler>"
    if number(compiler, "settotalmass", where, -1.0) > 0:
        raise ModelError("<compiler settotalmass> rescales every mass; scale the masses in the file instead.")
    if compiler.get("coordinate", "local") != "local":
        raise ModelError("<compiler coordinate> must be local, as in MuJoCo 2.3.4 and later.")
    sequence = compiler.get("eulerseq", "xyz")
    if len(sequence) != 3 or not set(sequence) <= set("xyzXYZ"):
        raise ModelError(f"<compiler eulerseq> is {sequence!r}; give three of the letters x y z X Y Z.")
    first, last = numbers(compiler, "inertiagrouprange", where, (-(2.0**31), 2.0**31))
    return Settings(
        degrees=keyword(compiler, "angle", where, ("degree", "radian")) == "degree",
        euler_sequence=sequence,
        autolimits=keyword(compiler, "autolimits", where, ("true", "false")) == "true",
        inertia_from_geoms=keyword(compiler, "inertiafromgeom", where, ("auto", "true", "false")),
        inertia_groups=(int(first), int(last)),
        least_mass=number(compiler, "boundmass", where, 0.0),
        least_inertia=number(compiler, "boundinertia", where, 0.0),
        balance=keyword(compiler, "balanceinertia", where, ("false", "true")) == "true",
        gravity=_gravity(root),
    )


def _gravity(root: Element) -> tuple[float, float, float]:
    for flag in section(root, "option"):
        if flag.tag == "flag" and flag.get("gravity") == "disable":
            return (0.0, 0.0, 0.0)
    x, y, z = numbers(_attributes_of_all(root, "option"), "gravity", "<option>", EARTH_GRAVITY)
    return (x, y, z)


def _attributes_of_all(root: Element, tag: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for element in root.findall(tag):
        attributes |= element.attrib
    return attributes


Attributes = dict[str, str]
MAIN = "main"
ACTUATORS = (
    "general", "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper", "cylinder",
    "muscle", "adhesion", "dcmotor", "plugin",
)  # fmt: skip
ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")


@dataclass(frozen=True)
class Defaults:
    """Attributes by class and by element name; the shortcuts of actuators share one set, as in MuJoCo."""

    classes: dict[str, dict[str, Attributes]]

    def of(self, element: Element, childclass: str) -> Attributes:
        """The element's attributes over those of its class.

        Args:
            element: a joint, geom, equality or actuator.
            childclass: class in force where the element stands; the element's own ``class`` goes before it.
        """
        name = element.get("class", childclass)
        self.check(name, f"<{element.tag}>")
        return _over(self.classes[name].get(_family(element.tag), {}), element.attrib)

    def check(self, name: str, where: str) -> None:
        """Refuse a class that no ``<default>`` defines."""
        if name not in self.classes:
            raise unknown_name(f"default class of {where}", name, self.classes)


def defaults_of(root: Element) -> Defaults:
    """Gather the ``<default>`` sections of a model."""
    classes: dict[str, dict[str, Attributes]] = {MAIN: {}}
    for element in root.findall("default"):
        name = element.get("class", MAIN)
        if name != MAIN:
            raise ModelError(
                f"The outermost <default> has the class {name!r}; it is {MAIN!r}, and other classes go "
                "inside it."
            )
        _gather(element, MAIN, classes)
    return Defaults(classes)


def _gather(element: Element, name: str, classes: dict[str, dict[str, Attributes]]) -> None:
    own = classes[name]
    for child in element:
        if child.tag != "default":
            family = _family(child.tag)
            own[family] = _over(own.get(family, {}), child.attrib)
    # Nested classes start from the whole of this class, wherever they stand in it.
    for child in element.findall("default"):
        nested = required_text(child.attrib, "class", "A nested <default>")
        if nested in classes:
            raise ModelError(f"The default class {nested!r} is defined twice.")
        classes[nested] = {family: dict(attributes) for family, attributes in own.items()}
        _gather(child, nested, classes)


def _over(inherited: Attributes, given: Attributes) -> Attributes:
    # An orientation of any form takes the place of one of another form taken over from the defaults.
    turned = any(key in given for key in ORIENTATIONS)
    return {key: v for key, v in inherited.items() if not (turned and key in ORIENTATIONS)} | given


def _family(tag: str) -> str:
    return "actuator" if tag in ACTUATORS else tag
