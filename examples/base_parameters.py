"""Which parameters of a robot can its torques reveal? Ask before recording anything."""

from __future__ import annotations

import numpy as np

import dynid

robot = dynid.load_robot("rx90")
base = dynid.find_base(robot)  # closed form here: no random numbers, named lengths in the formulas
print(f"{robot.name}: {len(robot.table)} standard parameters, {len(base)} base parameters")
for text in base.formulas[:5]:
    print("  ", text)
print("   never felt by any motor:", " ".join(base.unseen))

# The numeric method decides rank from random states. It serves robots with loops too, and checks the rules.
numeric = dynid.find_base(robot, method="numeric")
assert numeric.columns == base.columns
assert np.allclose(numeric.matrix, base.matrix, atol=1e-9)
print(f"the numeric method agrees; kept and dropped columns are {numeric.rank_gap:.0e} apart")

# One joint alone sees less. This is what identifying joint by joint rests on.
print("seen by each joint alone:", [len(one) for one in dynid.base.joint_bases(robot)])

# A payload is one more link. Unknown, it melts into the link that carries it: the count does not change.
loaded = dynid.model.attach_payload(robot)
print("with an unknown payload:", len(dynid.find_base(loaded)), "of", len(loaded.table))

# Forward and back: different standard sets with the same base parameters give the same torques.
rng = np.random.default_rng(0)
standard = rng.uniform(0.1, 1.0, len(robot.table))
other = base.expand(base.regroup(standard))
q, qd, qdd = rng.uniform(-1, 1, (3, 100, robot.n_coordinates))
kernels = dynid.kernels(robot)
gap = np.abs(kernels.inverse(standard, q, qd, qdd) - kernels.inverse(other, q, qd, qdd)).max()
print(f"two standard sets, {np.abs(standard - other).max():.2f} apart, torques equal to {gap:.0e} N m")
assert gap < 1e-10
