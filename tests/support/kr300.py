"""The KR300 as a user would write it: a robot file, and a mapping of its records."""

from __future__ import annotations

KR300 = """
terms = ["Ia", "Fv", "Fc", "off"]
[[joint]]
alpha_deg = 180
r = -0.675
[[joint]]
alpha_deg = 90
d = 0.35
r = -0.189
[[joint]]
d = 1.15
theta_deg = 90
r = 0.189
[[joint]]
alpha_deg = -90
d = 0.041
r = -1.0
[[joint]]
alpha_deg = 90
[[joint]]
alpha_deg = -90
r = -0.24
[drives]  # positions of the motors in joint degrees, so only the torques go through the gears
ratio = [1, 1, 1, 1, 1, 1]
gain = [256.857, 267.429, 252.333, 221.0, 239.619, 154.323]
offset_deg = [0, -90, 90, 0, 0, 0]
"""
RECORD = {
    "side": "motor",
    "time": {"column": "rec.time_cont"},
    "position": {"columns": "rec.act_pos_mot_deg", "unit": "deg"},
    "torque": {"columns": "rec.act_torque_abs_nm"},
}
