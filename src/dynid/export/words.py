"""What a generated file says about itself, in words that no name from a robot file can break out of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import dynid
from dynid.core.errors import DynidError
from dynid.core.finding import Name
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.results.result import SavedResult

_LONGEST = 40
"""Letters of a name made from a robot's name: with what is appended it stays below the 63 of MATLAB."""
NO_STANDARD = (
    "Standard parameters of a possible robot: the result has none; an earlier version wrote it, or no such "
    "robot fits its logs."
)
"""What is said where a form that can do without them has none."""
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 _.,:;=+()\[\]-]")


def plain_words(text: str) -> str:
    """A text as a comment of any language can hold it: one line of ASCII without signs that end a comment."""
    return _NOT_PLAIN.sub("_", text)


def identifier(text: str) -> str:
    """A name of functions and files made of any text: letters, digits and underscores."""
    made = re.sub(r"[^A-Za-z0-9_]", "_", text)[:_LONGEST].strip("_")
    return made if re.match(r"[A-Za-z]", made) else f"robot_{made}".rstrip("_")


def export_name(robot: Robot, given: str | None) -> str:
    """The name that files and functions begin with.

    Args:
        robot: the robot, whose own name is made usable where none is given.
        given: by the user.

    Raises:
        DynidError: when that could be no name of a function.
    """
    if given is None:
        return identifier(robot.name)
    if identifier(given) != given:
        raise DynidError(
            f"The name {given!r} cannot begin the names of functions and files; give up to {_LONGEST} "
            "letters, digits and underscores that begin with a letter and end in a letter or digit."
        )
    return given


def coordinate_names(robot: Robot) -> tuple[str, ...]:
    """Names of the joints whose positions are the coordinates."""
    return tuple(robot.joints[j].name for j in robot.coordinates)


def coordinate_units(robot: Robot) -> tuple[tuple[str, str], ...]:
    """Units of position and torque of each coordinate."""
    kinds = [robot.joints[j].kind for j in robot.coordinates]
    return tuple(("m", "N") if kind is JointKind.PRISMATIC else ("rad", "N m") for kind in kinds)


def result_hash(result: SavedResult) -> str:
    """A hash of the robot's equations and all values, to tell results apart."""
    further = () if result.further is None else (result.further.values,)
    arrays = [result.values, *(() if result.standard is None else (result.standard,)), *further]
    digest = hashlib.sha256(result.robot.digest.encode())
    for array in arrays:
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def heading_lines(result: SavedResult, notes: Sequence[str] = ()) -> list[str]:
    """Lines that say what a file holds: robot, units, coordinates, where it comes from and how good it is.

    Args:
        result: the model.
        notes: what else is to be said.
    """
    robot = result.robot
    lines = [
        f"Dynamic model of robot {robot.name}, by dynid {dynid.__version__}.",
        "SI units, joint side: angles in rad, lengths in m, torques in N m, forces in N.",
    ]
    units = zip(coordinate_names(robot), coordinate_units(robot), strict=True)
    lines += [f"  {k}: {name} ({q}; {tau})" for k, (name, (q, tau)) in enumerate(units)]
    made = result.run.get("created")
    lines += [f"Result {result_hash(result)}{f', made {made}' if made else ''}."]
    error = unseen_error(result)
    if error is not None:
        whose = "" if has_own_values(result) else " of the base values"
        lines.append(f"Torque error on unseen motion{whose}: {error:.3g} percent.")
    return [plain_words(line) for line in (*lines, *cautions_of(result), *notes)]


def has_own_values(result: SavedResult) -> bool:
    """Whether the standard values are those that the fit was judged by, as far as any torque shows."""
    found = result.section("possibility")
    own = not found or found.get("recommended") or found.get("as_it_is")
    return result.standard is None or bool(own)


def cautions_of(result: SavedResult) -> tuple[str, ...]:
    """What speaks against the values: a fit that cannot be trusted, or that keeps to other ones."""
    verdict, found = result.section("verdict"), result.section("possibility")
    said = [str(verdict["words"])] if verdict.get("trustworthy") is False and verdict.get("words") else []
    if not has_own_values(result):
        errors = [found.get(key) for key in ("possible_percent", "plain_percent")]
        both = ""
        if None not in errors:
            both = f": it misses {errors[0]:.3g} % of parts not used, the fit alone {errors[1]:.3g} %"
        said.append(
            "The fit keeps to values that no robot has; the standard ones are of the nearest possible "
            f"robot{both}."
        )
    grave = (Name.IMPOSSIBLE_ROBOT, Name.REVERSED_TORQUES)
    findings = [f for f in verdict.get("findings", ()) if f.get("name") in grave]
    return (*said, *(str(f["sentence"]) for f in findings if f.get("level") != "note"))


def unseen_error(result: SavedResult) -> float | None:
    """Share of the torque that the model misses on motion that the fit has not used [%]; None if unknown."""
    found = result.section("validation")
    figures = found.get("decimated") or found.get("full")
    if not isinstance(figures, dict) or found.get("seen"):
        return None
    percent = figures.get("overall_percent")
    return float(percent) if isinstance(percent, int | float) else None
