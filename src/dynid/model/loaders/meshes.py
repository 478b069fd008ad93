"""Vertices of mesh files, read with trimesh where it is installed, and where ``package://`` files lie."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import FileError, unknown_name

_ENDINGS = (".dae", ".glb", ".obj", ".off", ".ply", ".stl")
_LARGEST = 200_000_000
"""Largest mesh file that is read [bytes]."""
_FOLDERS_UP = 4
"""How far above a robot file its packages are looked for: PACKAGE/urdf/arms/… is usual."""


def mesh_path(name: str, folder: Path | None) -> Path:
    """Where a mesh that a robot file names lies.

    ``package://NAME/rest`` and ``model://NAME/rest`` are looked for beside the robot file and in the folders
    above it: as ``NAME/rest``, and as ``rest`` in a folder NAME or beside the robot file.

    Args:
        name: as the robot file has it.
        folder: of the robot file; None where it is not known.

    Raises:
        FileError: when there is no such file.
    """
    if folder is None:
        raise FileError(f"The mesh {name!r} is not looked for, as the folder of the robot file is not known.")
    scheme, _, rest = name.rpartition("://")
    if scheme not in ("", "file", "model", "package"):
        raise FileError(f"The mesh {name!r} is not a file on this computer.")
    if scheme in ("", "file"):
        tried = [folder / rest]  # an absolute path stays itself
    else:
        package, _, inside = rest.partition("/")
        above = [folder, *folder.parents[:_FOLDERS_UP]]
        tried = [up / rest for up in above] + [up / inside for up in above if up.name == package]
        tried.append(folder / inside)
    try:
        found = next((path for path in tried if path.is_file()), None)
    except (OSError, ValueError):  # a name that no file can have
        found = None
    if found is None:
        raise FileError(f"There is no mesh {name!r} beside the robot file.")
    return found


def mesh_vertices(path: Path) -> FloatArray:
    """The vertices of a mesh file, (count, 3), in its own units.

    Args:
        path: the file.

    Raises:
        FileError: when the file or trimesh cannot be read.
    """
    try:
        import trimesh
    except ImportError:
        raise FileError(
            "Meshes need the package trimesh; install dynid with its meshes extra: "
            "pip install 'dynid[meshes]'."
        ) from None
    ending = path.suffix.lower()
    if ending not in _ENDINGS:
        raise unknown_name("ending of a mesh", ending, _ENDINGS)
    try:
        size = path.stat().st_size
        if size > _LARGEST:
            raise FileError(
                f"The mesh {path.name} has {size / 1e6:.0f} MB; at most {_LARGEST / 1e6:.0f} are read."
            )
        # From memory, so that materials and pictures that it names are not looked for.
        mesh = trimesh.load_mesh(io.BytesIO(path.read_bytes()), file_type=ending[1:], process=False)
        vertices = np.asarray(mesh.vertices, dtype=float).reshape(-1, 3)
    except FileError:
        raise
    except Exception as error:  # a parser may throw anything at a damaged file
        raise FileError(f"The mesh {path.name} cannot be read ({type(error).__name__}: {error}).") from None
    if not len(vertices) or not np.all(np.isfinite(vertices)):
        raise FileError(f"The mesh {path.name} has no finite vertices.")
    return vertices
