"""What is known beside a log: bounds hold, contradictions are named, files are checked."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dynid.consistency import Ellipsoid, Knowledge, LinkBounds, PossibleRobot, Prior, load_knowledge
from dynid.consistency.pseudo_inertia import link_columns
from dynid.core.errors import DynidError
from dynid.model.inertia import LinkInertia
from support.consistent_rows import nearest
from support.possible_arms import PossibleArm, draw_arm

Array = NDArray[np.float64]


@cache
def arm() -> PossibleArm:
    return draw_arm("setting", 8, noise=0.05, seconds=4.0)


def link(found: PossibleRobot, number: int) -> tuple[float, Array]:
    """Mass and centre of mass."""
    values = found.standard[link_columns(arm().robot)[number]]
    mass, com, _ = LinkInertia.from_standard(values).com_form()
    return mass, com


def test_mass_and_total_mass_are_kept() -> None:
    plain_mass, _ = link(nearest(arm()), 5)
    known = Knowledge(total_mass=(40.0, 41.0), link=(LinkBounds(joint=6, mass=(3 * plain_mass, np.inf)),))
    found = nearest(arm(), known)
    masses = [link(found, j)[0] for j in range(6)]
    assert masses[5] >= 3 * plain_mass * (1 - 1e-6)
    assert 40.0 - 1e-3 <= sum(masses) <= 41.0 + 1e-3
    assert any("mass of link of" in bound.name and bound.given for bound in found.active)


def test_centres_of_mass_are_kept_in_boxes_ellipsoids_and_hulls() -> None:
    _, free = link(nearest(arm()), 4)
    aside = free + np.array([0.3, 0.0, 0.0])
    box = tuple((float(x) - 0.05, float(x) + 0.05) for x in aside)
    corners = tuple(tuple(float(v) for v in aside + 0.05 * np.array(s)) for s in np.ndindex(2, 2, 2))
    shapes = {
        "box": LinkBounds(joint=5, com_box=box),  # type: ignore[arg-type]
        "ellipsoid": LinkBounds(
            joint=5, com_ellipsoid=Ellipsoid(centre=tuple(aside), radii=(0.05, 0.05, 0.05))
        ),
        "hull": LinkBounds(joint=5, com_hull=corners),  # type: ignore[arg-type]
    }
    for name, bounds in shapes.items():
        found = nearest(arm(), Knowledge(link=(bounds,)))
        _, com = link(found, 4)
        assert np.all(np.abs(com - aside) < 0.0501), name
        assert found.cost > nearest(arm()).cost
        assert any(bound.given for bound in found.active), name


def test_a_symmetric_link_has_no_products_across_its_plane() -> None:
    found = nearest(arm(), Knowledge(link=(LinkBounds(joint=3, symmetric=("xz",)),)))
    by_name = arm().robot.table.mapping(found.standard)
    label = arm().robot.joints[2].label
    scale = by_name[f"XX{label}"]
    assert all(abs(by_name[symbol + label]) < 1e-6 * max(scale, 1) for symbol in ("MY", "XY", "YZ"))
    assert abs(by_name[f"XZ{label}"]) > 0


def test_bounds_that_contradict_each_other_are_named_and_no_others() -> None:
    known = Knowledge(
        total_mass=(1.0, 5.0),
        link=(LinkBounds(joint=1, mass=(6.0, 8.0)), LinkBounds(joint=2, mass=(0.1, 30.0))),
    )
    with pytest.raises(DynidError) as refusal:
        nearest(arm(), known)
    text = str(refusal.value)
    assert text.startswith("These bounds contradict each other: ")
    assert "total mass at most 5 kg" in text
    assert "at least 6 kg" in text
    assert "30 kg" not in text
    assert text.endswith("; loosen one of them.")
    with pytest.raises(
        DynidError, match="No possible robot satisfies this bound: M1 at most -1 kg; loosen it"
    ):
        nearest(arm(), Knowledge(parameters={"M1": (-np.inf, -1.0)}))


def test_a_file_gives_the_same_as_python(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(
        """
total_mass = [20, 90]

[[link]]
joint = 2
mass = [1, 9]
com_box = [[-0.2, 0.2], [-inf, inf], [0, 0.5]]
com_ellipsoid = { radii = [0.4, 0.4, 0.4] }
symmetric = ["xz"]

[parameters]
Fv1 = [0, 4]

[prior]
doubt = 0.5
kind = "quadratic"
values = { M2 = 3.5 }
""",
        encoding="utf-8",
    )
    known = load_knowledge(file)
    assert known.total_mass == (20.0, 90.0)
    assert known.link[0].mass == (1.0, 9.0)
    assert known.link[0].com_box == ((-0.2, 0.2), (-np.inf, np.inf), (0.0, 0.5))
    assert known.link[0].com_ellipsoid == Ellipsoid(radii=(0.4, 0.4, 0.4))
    assert known.prior is not None
    assert known.prior.values == {"M2": 3.5}
    assert not known.empty
    assert Knowledge().empty
    assert 1.0 - 1e-6 <= link(nearest(arm(), known), 1)[0] <= 9.0 + 1e-6


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mass = [1, 2]", "Unknown key 'mass'. Did you mean 'total_mass'?"),
        ("[[link]]\nmass = [1, 2]", "joint is missing"),
        ("[[link]]\njoint = 1\nmass = [5, 2]", "the range from 5 to 2 is empty"),
        ("[[link]]\njoint = 1\nmass = [-1, 2]", "from 0"),
        ("[[link]]\njoint = 1\nsymmetric = ['zz']", "Known: xy, xz, yz"),
        ("[prior]\ndoubt = 0", "from 1e-06 to 1e+06"),
        ("[prior]\nkind = 'flat'", "Known: entropic, geodesic, quadratic"),
        ("total_mass = [nan, 3]", "total_mass"),
        ("total_mass = 3", "a list of 2 numbers"),
        ("total_mass = [inf, inf]", "the range from inf to inf is empty"),
        ("[parameters]\nFv1 = [3, 1]", "Fv1: the range from 3 to 1 is empty"),
    ],
)
def test_wrong_files_get_a_sentence(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DynidError) as refusal:
        load_knowledge(file)
    assert said in str(refusal.value)
    assert "known.toml" in str(refusal.value)


def test_names_that_the_robot_does_not_have_are_refused() -> None:
    with pytest.raises(DynidError, match="joint of a link"):
        nearest(arm(), Knowledge(link=(LinkBounds(joint="elbow", mass=(0.0, 1.0)),)))
    with pytest.raises(DynidError, match="parameter"):
        nearest(arm(), Knowledge(parameters={"M99": (0.0, 1.0)}))
    with pytest.raises(DynidError, match="span no volume"):
        nearest(arm(), Knowledge(link=(LinkBounds(joint=1, com_hull=((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))),)))


def test_what_is_given_in_python_is_checked_by_the_same_rules() -> None:
    with pytest.raises(DynidError, match="Known: entropic, geodesic, quadratic"):
        Prior(kind="Quadratic")
    with pytest.raises(DynidError, match="doubt is -1"):
        Prior(doubt=-1)
    with pytest.raises(DynidError, match="radii"):
        Ellipsoid(radii=(-1.0, 1.0, 1.0))
    with pytest.raises(DynidError, match="path"):
        load_knowledge(3)  # type: ignore[arg-type]
    with pytest.raises(DynidError, match="has no values, and the file of robot"):
        nearest(arm(), Knowledge(prior=Prior(kind="quadratic")))
