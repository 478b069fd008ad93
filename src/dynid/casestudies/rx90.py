"""The RX-90 of P2, simulated: tables 2 to 4 beside ours and figure 3 drawn again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dynid.casestudies.case import Case, CaseResult, Row
from dynid.casestudies.rx90_runs import Rx90Runs
from dynid.casestudies.rx90_tables import section_gains, section_payload, torque_figure
from dynid.core.errors import DynidError, unknown_name
from dynid.core.executor import LocalExecutor, Progress, no_progress

TITLE = "RX-90 of P2, simulated"
Section = Callable[[Sequence[Rx90Runs]], list[Row]]
SECTIONS: dict[str, Section] = {"gains": section_gains, "payload": section_payload}
SEEDS = 5
NOTES = (
    "The robot is simulated. P2 prints neither its inertias nor its friction: links, friction and drives are "
    "the assumed ones of the catalog's rx90. The true gains are those of table 3, and 1 for motors 5 and 6; "
    "the payload has P2's mass and MZ. A free and a loaded log of 1200 samples each, with white noise of 3 % "
    "of every motor's torque; a seed draws the noise anew. σ is the classical one, as P2's.",
    "Eq 27 is printed with W_uL χ_uL in its matrix. The columns are W_uL: χ_uL/g is among the unknowns, and "
    "multiplying it into the matrix as well would square it.",
    "σ of motor 4 must hold that of the payload, which motors 1 to 3 give it. P2 prints 2.8 %; taken by "
    "itself, with the payload as if it were exact, its least squares would say several times less than is "
    "true (row “σ of motor 4 over …”).",
    "Motor 5 can be calibrated as well as motor 4: both feel MZ and the inertias, not the mass. P2 leaves it "
    "out. Motor 6 feels neither the mass nor MZ, and MX and MY of this payload are zero.",
    "Case 3: the mass follows the gains of motors 1 to 3. MZ does not, because motors 5 and 6, whose gains "
    "stay, tell it better than the others; with all six gains × 1.2 it would follow exactly. That it falls, "
    "as table 2 prints (0.934 to 0.867), does not come out: it rises. It falls by as much as printed when "
    "the gain of motor 4 is 20 % too small and not too large.",
    "P2's residuals are those of a real robot, with friction and ripple that no model has; ours are the 3 % "
    "of noise. What can be compared is their order: least with the gains found.",
)


def run(*, section: str | None = None, seeds: int = SEEDS, progress: Progress = no_progress) -> CaseResult:
    """All tables and the figure, or those of one section.

    Args:
        section: "gains" or "payload"; both when None.
        seeds: how many simulated experiments.
        progress: told which section and how many seeds are done.
    """
    if section is not None and section not in SECTIONS:
        raise unknown_name("section", section, SECTIONS)
    if seeds < 1:
        raise DynidError(f"{seeds} seeds were asked for; give at least 1.")
    runs = [Rx90Runs(seed) for seed in range(seeds)]
    found: list[Row] = []
    for name in SECTIONS if section is None else (section,):
        make = SECTIONS[name]
        # A run keeps what its rows need: each is filled by the rows of its own first.
        LocalExecutor().map(
            lambda own, make=make: make([own]), runs, progress=progress, what=f"seeds of {name}"
        )
        found += make(runs)
    drawn = () if section == "gains" else (torque_figure(runs[0]),)
    return CaseResult("rx90", TITLE, tuple(found), NOTES, drawn)


CASE = Case("rx90", TITLE, None, run, ("section", "seeds"))
