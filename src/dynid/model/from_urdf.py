"""placeholder"""
from pathlib import Path
from dynid.model.robot import Robot
def from_urdf(path: str | Path) -> Robot:
    raise ValueError
