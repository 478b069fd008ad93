"""Closed loops in simulation: controllers and references as data, sensors, and the verb ``simulate``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.simulation.added_torques import AddedTorque as AddedTorque
    from dynid.simulation.controller import Controller as Controller, Velocity as Velocity
    from dynid.simulation.controller_file import (
        controller_names as controller_names,
        load_controller as load_controller,
    )
    from dynid.simulation.inertia import joint_inertias as joint_inertias
    from dynid.simulation.law import DriveSide as DriveSide
    from dynid.simulation.laws import (
        PID as PID,
        Bandwidth as Bandwidth,
        Cascade as Cascade,
        ComputedTorque as ComputedTorque,
        OpenLoop as OpenLoop,
    )
    from dynid.simulation.reference_file import load_reference as load_reference
    from dynid.simulation.sensors import Disturbances as Disturbances, Sensors as Sensors
    from dynid.simulation.setup import Accuracy as Accuracy
    from dynid.simulation.simulation import (
        Simulation as Simulation,
        simulate as simulate,
        simulate_many as simulate_many,
    )
    from dynid.simulation.user_law import UserLaw as UserLaw
    from dynid.trajectories import Reference as Reference, Sines as Sines
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "added_torques": ("AddedTorque",),
        "controller": ("Controller", "Velocity"),
        "controller_file": ("controller_names", "load_controller"),
        "inertia": ("joint_inertias",),
        "law": ("DriveSide",),
        "laws": ("Bandwidth", "Cascade", "ComputedTorque", "OpenLoop", "PID"),
        "reference_file": ("load_reference",),
        "sensors": ("Disturbances", "Sensors"),
        "setup": ("Accuracy",),
        "simulation": ("Simulation", "simulate", "simulate_many"),
        "user_law": ("UserLaw",),
        "dynid.trajectories": ("Reference", "Sines"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
