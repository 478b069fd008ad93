"""A ROS 2 node that follows a robot: joint states in, parameters with their doubt out.

    python ros2_track.py --ros-args -r joint_states:=/my_arm/joint_states -p robot:=/path/to/my_arm.urdf

Without ROS 2 on the machine, a simulated arm calls the same callback.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import numpy as np

import dynid

try:
    import rclpy
    from rclpy.node import Node
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String
except ImportError:
    rclpy, Node = None, object


class Follower:
    """What a callback needs, without anything of ROS in it.

    Args:
        robot: joints are found by their names.
        rate_hz: joint states per second.
    """

    def __init__(self, robot: dynid.Robot, rate_hz: float) -> None:
        plan = dynid.preparation.CausalPlan(
            rate_hz=rate_hz, cutoff_hz=20.0, decimation=2, row_decimation=max(1, int(rate_hz / 50))
        )
        self.tracker = dynid.tracking.Tracker(dynid.find_base(robot), plan, dynid.tracking.TrackOptions())
        self.feed = dynid.tracking.Feed(dynid.tracking.FeedRules(rate_hz=rate_hz, reorder=2))
        self.joints = [robot.joints[c].name for c in robot.coordinates]
        self.order: list[int] = []

    def take(
        self, stamp_s: float, names: Sequence[str], position: Sequence[float], effort: Sequence[float]
    ) -> list[str]:
        """One joint state; what the watch has to say."""
        if not self.order:
            self.order = [list(names).index(joint) for joint in self.joints]
        sample = dynid.tracking.Sample(stamp_s, np.array(position)[self.order], np.array(effort)[self.order])
        events = [event for arrival in self.feed.put(sample) for event in self.tracker.take(arrival)]
        return [event.finding.text for event in events]

    def record(self) -> dict[str, object] | None:
        """Values, σ, torques measured and predicted; None while the noise is learnt."""
        return self.tracker.record(self.feed.counts)


class TrackNode(Node):  # type: ignore[misc]
    """The node: ten records per second as JSON on the topic `dynid`."""

    def __init__(self) -> None:
        super().__init__("dynid_track")
        robot = self.declare_parameter("robot", "iiwa14").value
        rate = self.declare_parameter("rate_hz", 500.0).value
        self.follower = Follower(dynid.load_robot(robot), rate)
        self.publisher = self.create_publisher(String, "dynid", 10)
        self.create_subscription(JointState, "joint_states", self.on_joint_state, 100)
        self.create_timer(0.1, self.on_timer)

    def on_joint_state(self, message: JointState) -> None:  # type: ignore[valid-type]
        """Some tens of microseconds: it may run in the executor that the controller uses."""
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        for said in self.follower.take(stamp, message.name, message.position, message.effort):
            self.get_logger().warning(said)

    def on_timer(self) -> None:
        record = self.follower.record()
        if record is not None:
            self.publisher.publish(String(data=json.dumps(record)))


def without_ros() -> None:
    """The same callback, called by a simulated arm."""
    robot = dynid.load_robot("tx40")
    rng, rate = np.random.default_rng(0), 500.0
    t = np.arange(0.0, 40.0, 1.0 / rate)
    w, size, phase = (rng.uniform(*span, (6, 3)) for span in ((0.6, 5.0), (0.1, 0.4), (0.0, 6.0)))
    angle = w * t[:, None, None] + phase
    q, qd, qdd = ((size * f).sum(axis=2) for f in (np.sin(angle), w * np.cos(angle), -(w**2) * np.sin(angle)))
    tau = dynid.kernels(robot).inverse(robot.parameters, q, qd, qdd)
    tau += 0.02 * np.std(tau, axis=0) * rng.normal(size=tau.shape)
    names = [joint.name for joint in robot.joints][::-1]  # as a driver may sort them
    follower = Follower(robot, rate)
    for stamp, position, effort in zip(t, q, tau, strict=True):
        for said in follower.take(float(stamp), names, position[::-1], effort[::-1]):
            print(said)
    record = follower.record()
    assert record is not None
    base = dynid.find_base(robot)
    error = np.abs(np.array(record["values"]) - base.regroup(robot.parameters)) / np.array(record["sigma"])
    print(f"{record['used']} rows, {np.mean(error < 2):.0%} of {len(base)} parameters within 2σ of the truth")
    for name, value, sigma in list(zip(base.names, record["values"], record["sigma"], strict=True))[:5]:
        print(f"{name:6} {value:9.4f} ± {sigma:.4f}")
    assert np.mean(error < 2) > 0.85


def main() -> None:
    """Spin, or show what the callback does."""
    if rclpy is None:
        without_ros()
        return
    rclpy.init(args=sys.argv)
    rclpy.spin(TrackNode())


if __name__ == "__main__":
    main()
