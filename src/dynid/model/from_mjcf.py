"""placeholder"""
from pathlib import Path
from dynid.model.robot import Robot
def from_mjcf(path: str | Path) -> Robot:
    raise ValueError
