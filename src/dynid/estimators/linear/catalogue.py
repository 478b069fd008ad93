"""The catalogue: effects that a model may lack, as terms that can be added to it by name.

A term is found as a suspect (``suspects/physics.py``) and added (``--add``) by the same formula.
"""

from __future__ import annotations

from dynid.estimators.linear.terms import NonlinearTerm

STRIBECK = NonlinearTerm(
    "Fs",
    "sign(qd) * exp(-(qd / vs)^2)",
    start={"vs": 0.1},
    constant_units={"vs": "rad/s"},
    words="Stribeck friction",
    never_negative=True,
)
"""What sticking adds to Coulomb friction at low speed; vs is the speed at which it fades."""
LOAD = NonlinearTerm(
    "Fl", "abs(load) * sign(qd)", unit="1", words="friction that grows with load", never_negative=True
)
"""Coulomb friction that grows with the torque carried: that of the links' inertia and weight. It has no
unknown constant, but the load follows from the parameters: both are solved for in turn until they settle."""

CATALOGUE: dict[str, NonlinearTerm] = {
    "stribeck": STRIBECK,
    "load": LOAD,
    "flattening": NonlinearTerm(
        "Fq", "qd * abs(qd)", unit="N m s^2/rad^2", words="friction that flattens with speed"
    ),
    "asymmetry": NonlinearTerm("Fa", "abs(qd)", unit="N m s/rad", words="friction of one direction"),
    "spring": NonlinearTerm("Ks", "q", unit="N m/rad", words="spring"),
    "viscous": NonlinearTerm("Fv", "qd", unit="N m s/rad", words="viscous friction", never_negative=True),
    "dry": NonlinearTerm("Fc", "sign(qd)", words="dry friction", never_negative=True),
    "offset": NonlinearTerm("off", "1", words="torque offset"),
    "inertia": NonlinearTerm("Ia", "qdd", unit="kg m^2", words="motor inertia", never_negative=True),
}
"""Terms by the names that ``--add`` takes. The last four are for robot files that leave them out."""
SOUGHT = ("ripple", "counterbalance")
"""Terms whose formula the logs give: the period over position, and a weight that turns with the joint."""
TERM_NAMES = (*CATALOGUE, *SOUGHT)
