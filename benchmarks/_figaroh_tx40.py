"""The TX40 log fitted with FIGAROH's own classes, as its users do; figaroh_tx40.py runs it as a process."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from figaroh.identification.base_identification import BaseIdentification
from figaroh.tools.robot import load_robot

RATIO = (32.0, 32.0, 45.0, -48.0, 45.0, 32.0)
CONFIG = """
robot:
  name: tx40
  properties:
    joints:
      active_joints: [joint_1, joint_2, joint_3, joint_4, joint_5, joint_6]
    mechanics:
      reduction_ratios: [32.0, 32.0, 45.0, -48.0, 45.0, 32.0]
      ratio_essential: 30.0
      friction_coefficients:
        viscous: [0, 0, 0, 0, 0, 0]
        static: [0, 0, 0, 0, 0, 0]
      actuator_inertias: [0, 0, 0, 0, 0, 0]
      joint_offsets: [0, 0, 0, 0, 0, 0]
    coupling:
      has_coupled_wrist: true
      Iam6: 0
      fvm6: 0
      fsm6: 0
tasks:
  identification:
    enabled: true
    problem:
      include_external_forces: false
      use_joint_torques: true
      wls: true
      model_components:
        friction: true
        joint_offset: true
        actuator_inertia: true
        static_regressor: true
        inertia_regressor: true
    signal_processing:
      sampling_frequency: 5000.0
      cutoff_frequency: 100.0
      filter_type: butterworth
      filter_order: 4
"""


class Tx40(BaseIdentification):
    """What FIGAROH leaves to its users: reading the log and bringing it to the joints."""

    def __init__(self, robot, config: str, folder: Path) -> None:  # type: ignore[no-untyped-def]
        self.folder = folder
        super().__init__(robot, config)
        names = [f"joint_{i + 1}" for i in range(6)]
        ids = [robot.model.getJointId(name) for name in names]
        joints = [robot.model.joints[i] for i in ids]
        self.identif_config |= {
            "active_joints": names,
            "act_Jid": ids,
            "act_J": joints,
            "act_idxq": [j.idx_q for j in joints],
            "act_idxv": [j.idx_v for j in joints],
            "idx_act_joints": [i - 1 for i in ids],
        }
        self.filter = {
            "differentiation_method": "gradient",
            "filter_params": {"nbutter": 4, "f_butter": 100.0, "f_sample": 5000.0},
        }

    def load_trajectory_data(self, data_source=None):  # type: ignore[no-untyped-def]
        torque = pd.read_csv(self.folder / "curr_data.csv").to_numpy()
        position = pd.read_csv(self.folder / "pos_read_data.csv").to_numpy()
        time = (np.arange(len(position)) / 5000.0).reshape(-1, 1)
        self.raw_data = {
            "timestamps": time,
            "positions": position,
            "velocities": None,
            "accelerations": None,
            "torques": torque,
        }
        return self.raw_data

    def process_kinematics_data(self, filter_config=None) -> None:  # type: ignore[no-untyped-def]
        R = np.diag(RATIO)
        R[5, 4] = RATIO[5]
        q = np.linalg.solve(R, self.raw_data["positions"].T).T
        q[:, 1] -= np.pi / 2
        q[:, 2] += np.pi / 2
        self.raw_data["positions"] = q
        self.filter_kinematics_data(self.filter)

    def process_torque_data(self, **options):  # type: ignore[no-untyped-def]
        R = np.diag(RATIO)
        R[4, 5] = RATIO[5]
        torque = self.raw_data["torques"] @ R.T
        self.processed_data["torques"] = torque[: len(self.processed_data["positions"])]
        return self.processed_data["torques"]


def loaded_job(folder: Path, place: Path) -> Tx40:
    """The job with its robot and configuration, the log read and its regressor built."""
    # FIGAROH opens the meshes that a URDF names; they are not part of the data.
    text = (folder / "tx40_mdh_modified.urdf").read_text()
    bare = place / "tx40.urdf"
    bare.write_text(re.sub(r"<(visual|collision)>.*?</\1>", "", text, flags=re.DOTALL))
    robot = load_robot(str(bare), package_dirs=str(place), load_by_urdf=True)
    config = place / "tx40.yaml"
    config.write_text(CONFIG)
    job = Tx40(robot, str(config), folder)
    job.initialize()
    return job


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        job = loaded_job(Path(sys.argv[1]), Path(place))
        job.solve(decimate=True, plotting=False, save_results=False, wls=True)
    print(f"{len(job.params_base)} base parameters")


if __name__ == "__main__":
    main()
