"""A payload in the forms that robot controllers ask for: the same body, told in four ways."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynid.calibration.central_form import CentralForm
from dynid.core.arrays import FloatArray
from dynid.model.inertia import LinkInertia
from dynid.model.orientation import to_rpy


def controller_forms(central: CentralForm, possible: LinkInertia | None) -> dict[str, Any]:
    """A payload as controllers ask for it, in the flange's frame.

    The body that can exist is told where the one found cannot. A form that needs what the motion does not
    show is None.

    Args:
        central: the payload that was found.
        possible: the body that can exist, in the flange's frame; None where the one found can.

    Returns:
        By name: "plain" (mass [kg], centre of mass [m] and [mm], inertia at the centre of mass along the
        flange's axes [kg m²]), "principal" (mass [kg], centre [mm], principal moments [kg m²] and the
        roll, pitch and yaw of their axes [deg]: Z-Y-X angles), "record" (the text
        ``[mass,[x,y,z],[q1,q2,q3,q4],ix,iy,iz]``, centre in mm, quaternion of the principal axes with its
        real part first) and "set_payload" (mass, centre in m, six entries XX YY ZZ XY XZ YZ).
    """
    if possible is not None:
        mass, com, inertia = possible.com_form()
    else:
        mass, com, inertia = central.mass, central.com, central.inertia
    centred = bool(np.isfinite(mass) and np.all(np.isfinite(com)))
    if not centred:
        return {"plain": None, "principal": None, "record": None, "set_payload": None}
    whole = bool(np.all(np.isfinite(inertia)))
    plain = {"mass_kg": mass, "com_m": com.tolist(), "com_mm": (1e3 * com).tolist()}
    if not whole:
        return {
            "plain": {**plain, "inertia_kg_m2": None},
            "principal": None,
            "record": None,
            "set_payload": None,
        }
    moments, axes = np.linalg.eigh(inertia)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    mm = 1e3 * com
    turn = quaternion(axes)
    record = f"[{mass:.4f},[{_numbers(mm, 3)}],[{_numbers(turn, 6)}],{_numbers(moments, 6)}]"
    return {
        "plain": {**plain, "inertia_kg_m2": inertia.tolist()},
        "principal": {
            "mass_kg": mass,
            "com_mm": mm.tolist(),
            "rpy_deg": np.rad2deg(to_rpy(axes)).tolist(),
            "moments_kg_m2": moments.tolist(),
        },
        "record": record,
        "set_payload": {
            "mass_kg": mass,
            "com_m": com.tolist(),
            "inertia_kg_m2": [
                float(inertia[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
            ],
        },
    }


def _numbers(values: FloatArray, decimals: int) -> str:
    return ",".join(f"{value:.{decimals}f}" for value in values)


def quaternion(rotation: FloatArray) -> FloatArray:
    """w, x, y, z with w ≥ 0 of a rotation matrix: the eigenvector of its symmetric 4 × 4 form, (4,)."""
    R = rotation
    K = np.empty((4, 4))
    K[0, 0] = np.trace(R)
    K[0, 1:] = K[1:, 0] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    found = np.linalg.eigh(K)[1][:, -1]
    return np.asarray(found if found[0] >= 0 else -found, dtype=float)
