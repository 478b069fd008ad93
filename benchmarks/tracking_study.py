"""How far simulated loops stay from their reference, sound and broken ones: the threshold of the finding.

`python benchmarks/tracking_study.py RUNS` draws loops of the catalog's arms (bandwidth law, sines): sound
ones (5–12 Hz, at least four times the reference's highest frequency, motors strong enough), and some with one
defect: motors too weak, gains tuned for a far smaller inertia, a bandwidth below the reference's frequencies,
or a delay that makes the loop ring. The threshold is set on even seeds, the rates are those of odd seeds.
"""

from __future__ import annotations

import sys

import numpy as np

import dynid
from dynid.simulation import Bandwidth, Controller, Sines, simulate
from dynid.simulation.inertia import joint_inertias
from dynid.simulation.outcomes import tracking_shares

ARMS = ("scara", "double_pendulum", "emps", "tx40", "ur10", "rx90", "iiwa14")
DEFECTS = ("weak motors", "soft gains", "slow loop", "ringing")
SECONDS, PERIOD = 6.0, 1e-3


def drawn_share(seed: int, defect: str | None) -> float | None:
    """The largest share of a drawn loop; None when the loop is refused already, because it diverges, say."""
    rng = np.random.default_rng([seed, 0 if defect is None else 1 + DEFECTS.index(defect)])
    robot = dynid.load_robot(ARMS[seed % len(ARMS)])
    n, top = robot.n_coordinates, rng.uniform(0.3, 1.5)
    sines = Sines(
        tuple((float(a), float(a) / 3) for a in rng.uniform(0.1, 0.7, n)),
        tuple((float(f), float(top)) for f in rng.uniform(0.2, 0.6, n) * top),
        tuple(tuple(p) for p in rng.uniform(0, 6, (n, 2)).tolist()),
    )
    reference = sines.sample(PERIOD, SECONDS)
    values = robot.table.vector(robot.parameters)
    needed = dynid.kernels(robot).inverse(values, reference.q, reference.qd, reference.qdd)
    hertz = max(rng.uniform(5, 12), 4 * top)
    strength, softness, delay = rng.uniform(2, 4), 1.0, 0
    if defect == "weak motors":
        strength = rng.uniform(0.1, 0.5)
    elif defect == "soft gains":
        softness = 1 / rng.uniform(30, 300)
    elif defect == "slow loop":
        hertz = rng.uniform(0.15, 0.5) * top
    elif defect == "ringing":
        delay = max(1, round(rng.uniform(1.0, 2.5) / (2 * np.pi * hertz * PERIOD)))
    limit = tuple((strength * np.abs(needed).max(axis=0)).tolist())
    law = Bandwidth((2 * np.pi * hertz,) * n, float(rng.uniform(0.7, 1.2)), 1.0)
    controller = Controller(law, PERIOD, delay=delay, saturation=limit)
    tuned = controller.scaled((softness * joint_inertias(robot, values, controller)).tolist())
    found = simulate(robot, values, tuned, reference)
    if not found.outcome.trustworthy:
        return None
    return float(np.nanmax(tracking_shares(found.q, reference, robot.driven)))


def main(runs: int = 84) -> None:
    """Draw, set, show."""
    shares = {
        defect: [drawn_share(seed, defect) for seed in range(runs if defect is None else runs // 2)]
        for defect in (None, *DEFECTS)
    }
    for half, name in ((0, "set on"), (1, "shown on")):
        print(name)
        for defect, found in shares.items():
            own = np.array([x for x in found[half::2] if x is not None])
            quantiles = np.quantile(own, [0, 0.05, 0.5, 0.95, 0.99, 1]) if len(own) else []
            refused = sum(x is None for x in found[half::2])
            print(f"  {defect or 'sound':12s} n {len(own):3d} refused {refused:3d} ", np.round(quantiles, 3))
            for threshold in (0.2, 0.3, 0.4, 0.5, 0.7):
                print(
                    f"      > {threshold}: {100 * np.mean(own > threshold) if len(own) else 0:.0f} %", end=""
                )
            print()


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
