"""Default classes of MJCF: what an element takes over from its class, its body's class and their parents."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element

from dynid.core.errors import ModelError, unknown_name
from dynid.model.xml_safe import required

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
        nested = required(child.attrib, "class", "A nested <default>")
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
