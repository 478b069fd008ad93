"""Events of the watch as findings: name, level, sentence and figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.model.joint import Joint, JointKind
from dynid.tracking.watch.collision import Push
from dynid.tracking.watch.definite import InertiaMonitor


@dataclass(frozen=True)
class Sentences:
    """What the watch says about the joints of a robot.

    Args:
        joints: names (n,).
        units: of their torques (n,).
    """

    joints: tuple[str, ...]
    units: tuple[str, ...]

    def pick_up(self, before: float, load: FloatArray, sigma: float) -> Finding:
        """A payload came, or another one than before."""
        figures = _payload_figures(load, sigma)
        had = f" where {before:.3g} kg were carried" if before else ""
        return Finding(
            Name.PAYLOAD_PICKED_UP,
            Level.NOTE,
            f"A payload of {load[9]:.3g} ± {sigma:.2g} kg was picked up{had}.",
            "It is weighed on its own while the arm's parameters wait.",
            figures=figures,
        )

    def weight(self, load: FloatArray, sigma: float) -> Finding:
        """The weighing is over."""
        return Finding(
            Name.PAYLOAD_WEIGHED,
            Level.NOTE,
            f"The payload weighs {load[9]:.4g} ± {sigma:.2g} kg.",
            figures=_payload_figures(load, sigma),
        )

    def put_down(self, before: float) -> Finding:
        """The payload went."""
        return Finding(
            Name.PAYLOAD_PUT_DOWN,
            Level.NOTE,
            f"The payload of {before:.3g} kg was put down.",
            figures={"mass": before},
        )

    def collision(self, push: Push) -> Finding:
        """Something pushed the arm and let it go."""
        return self._push_finding(
            Name.COLLISION, push, f"The arm was pushed for about {push.last - push.onset:.1g} s"
        )

    def lasting_change(self, push: Push) -> Finding:
        """Torques changed and stay so."""
        return self._push_finding(
            Name.UNEXPLAINED_CHANGE, push, "The torques changed as no payload changes them"
        )

    def _push_finding(self, name: Name, push: Push, head: str) -> Finding:
        sizes = np.abs(push.torque)
        j = int(np.argmax(sizes))
        return Finding(
            name,
            Level.CARE,
            f"{head}: joint {self.joints[j]!r} by up to {sizes[j]:.2g} {self.units[j]}.",
            "The samples of that while were not used.",
            Where(axis=j + 1),
            {"torque": push.torque.tolist(), "excess": push.excess, "seconds": push.last - push.onset},
        )

    def friction(self, j: int, change: float, sigma: float) -> Finding:
        """The friction of a joint is another one."""
        way = "more" if change > 0 else "less"
        return Finding(
            Name.FRICTION_DRIFT,
            Level.NOTE,
            f"Joint {self.joints[j]!r} rubs by {abs(change):.2g} ± {sigma:.1g} {self.units[j]} {way} than "
            "when the watch began.",
            "Recursions that forget follow it; others average over it.",
            Where(axis=j + 1),
            {"change": change, "sigma": sigma},
        )

    def inertia(self, monitor: InertiaMonitor) -> Finding:
        """M(q) became indefinite, or definite again."""
        figures = {"smallest_eigenvalue": monitor.smallest}
        if monitor.indefinite:
            return Finding(
                Name.INERTIA_NOT_POSITIVE,
                Level.CARE,
                f"M(q) has the eigenvalue {monitor.smallest:.3g}: no robot has such parameters.",
                "Do not use them in a controller until they are possible again.",
                figures=figures,
            )
        return Finding(
            Name.INERTIA_NOT_POSITIVE,
            Level.GOOD,
            "M(q) is positive definite again.",
            figures=figures,
        )


def _payload_figures(load: FloatArray, sigma: float) -> dict[str, object]:
    centre = (load[6:9] / load[9]).tolist() if load[9] else [np.nan] * 3
    return {"mass": float(load[9]), "mass_sigma": sigma, "centre": centre, "parameters": load.tolist()}


def torque_unit(joint: Joint) -> str:
    """Unit of a joint's torque or force."""
    return "N" if joint.kind is JointKind.PRISMATIC else "N m"
