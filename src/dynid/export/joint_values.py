"""Drive, friction and springs of each joint as URDF and MJCF have them, and what these do not have."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from dynid.core.arrays import FloatArray
from dynid.export.model import ExportModel
from dynid.model.parameters import Parameter
from dynid.model.robot import Robot

KINDS = {"qdd": "armature", "qd": "damping", "sign(qd)": "friction", "q": "stiffness", "1": "constant"}
"""What a law of one joint is, by its expression."""
_WORDS = {
    "Ia": "drive inertia",
    "Iam": "inertia of motors that turn with several joints",
    "Fvm": "viscous friction of motors that turn with several joints",
    "Fcm": "Coulomb friction of motors that turn with several joints",
    "Fv": "viscous friction",
    "Fc": "Coulomb friction",
    "off": "constant torque",
}


@dataclass(frozen=True)
class JointValues:
    """What a joint asks beside its links, joint side, SI.

    τ = armature q̈ + damping q̇ + friction sign(q̇) + stiffness (q − rest).
    """

    armature: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0


@dataclass(frozen=True)
class HeldValues:
    """What a form holds of a model.

    Args:
        joints: values by joint name; joints that follow others have none.
        parameters: names of the drive, friction and spring parameters that they hold.
    """

    joints: Mapping[str, JointValues]
    parameters: frozenset[str] = field(default_factory=frozenset)

    def of(self, joint: str) -> JointValues:
        """The values of a joint."""
        return self.joints.get(joint, JointValues())

    def standard(self, model: ExportModel) -> FloatArray:
        """The standard parameters with zeros for what is not held."""
        kept = {e.name for e in model.robot.table if e.family == "inertial"} | self.parameters
        return model.robot.table.vector({name: v for name, v in model.by_name.items() if name in kept})


def law_of(robot: Robot, entry: Parameter) -> tuple[str, Mapping[str, float]]:
    """The law of a drive, friction or element parameter: its expression, and the factors of its joints.

    The torque of joint j is coefficient × factor_j × expression, with q, qd and qdd those of Σ factor_j q_j.
    """
    joint = robot.joints[entry.joint].name
    if entry.family == "drive":
        return "qdd", {joint: 1.0}
    if entry.family == "friction":
        return next(t.expression for t in robot.friction_terms if t.name == entry.symbol), {joint: 1.0}
    element = next(e for e in robot.elements if e.name == entry.name)
    return element.expression, {name: factor for name, factor in element.joints.items() if factor}


def held_values(model: ExportModel, kinds: Collection[str]) -> HeldValues:
    """The values of a model that a form holds.

    Sums of one kind that are negative are not held, because no reader takes them. A constant torque is held
    by a spring that rests elsewhere: off = −stiffness · rest.

    Args:
        model: the model.
        kinds: those of ``KINDS`` that the form holds.
    """
    sums: dict[str, dict[str, float]] = {}
    names: dict[tuple[str, str], list[str]] = {}
    for entry in model.robot.table:
        if entry.family in ("inertial", "motor"):
            continue
        expression, factors = law_of(model.robot, entry)
        kind = KINDS.get(expression.replace(" ", ""), "")
        if kind not in kinds or len(factors) != 1:
            continue
        [(joint, factor)] = factors.items()
        # c f(c q): squares for what is linear, the size for the sign, the factor itself for a constant.
        weight = factor if kind == "constant" else abs(factor) if kind == "friction" else factor * factor
        of_joint = sums.setdefault(joint, {})
        of_joint[kind] = of_joint.get(kind, 0.0) + weight * model.by_name[entry.name]
        names.setdefault((joint, kind), []).append(entry.name)
    values: dict[str, JointValues] = {}
    parameters: set[str] = set()
    for joint, of_joint in sums.items():
        constant = of_joint.pop("constant", 0.0)
        kept = {kind: value for kind, value in of_joint.items() if value > 0}
        if kept.get("stiffness"):
            kept["rest"] = -constant / kept["stiffness"] + 0.0
            parameters |= set(names.get((joint, "constant"), ()))
        parameters |= {name for kind in kept if kind != "rest" for name in names[joint, kind]}
        values[joint] = JointValues(**kept)
    return HeldValues(values, frozenset(parameters))


def lost_parameters(model: ExportModel, held: HeldValues, form: str, beside: str) -> list[str]:
    """What a form does not hold of the robot's own terms, a sentence per term.

    Args:
        model: the model.
        held: what it holds.
        form: such as "URDF".
        beside: name of the file that has it.
    """
    by_term: dict[tuple[str, str], list[Parameter]] = {}
    for entry in model.robot.table:
        lost = entry.family != "inertial" and entry.name not in held.parameters
        if lost and model.by_name[entry.name] != 0:
            by_term.setdefault((entry.symbol, entry.family), []).append(entry)
    sentences = []
    for (symbol, family), entries in by_term.items():
        if family == "element":
            expression, factors = law_of(model.robot, entries[0])
            what, joints = f"{symbol} (force law {expression})", list(factors)
        else:
            words = _WORDS.get(symbol)
            words = words or f"friction law {law_of(model.robot, entries[0])[0]}"
            what, joints = f"{symbol} ({words})", [model.robot.joints[e.joint].name for e in entries]
        sentences.append(f"{form} does not hold {what} of {', '.join(joints)}: it is in {beside}.")
    return sentences
