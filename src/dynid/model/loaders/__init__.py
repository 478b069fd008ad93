"""Robots from files: MDH tables as TOML, URDF and MJCF."""
