"""The TX-90 of P3, simulated: tables 4 to 8 beside ours and figures 2 to 4 and 7 to 10 drawn again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dynid.casestudies.case import Case, CaseResult, Row
from dynid.casestudies.tx90_chain import ChainRuns
from dynid.casestudies.tx90_figures import figures_of
from dynid.casestudies.tx90_measured import section_measured
from dynid.casestudies.tx90_runs import validation_rows
from dynid.casestudies.tx90_tables import section_designs, section_validation
from dynid.core.errors import DynidError, unknown_name
from dynid.core.executor import LocalExecutor, Progress, no_progress
from dynid.report.charts import Figure

TITLE = "TX-90 of P3, simulated"
Section = Callable[[Sequence[ChainRuns]], list[Row]]
SECTIONS: dict[str, Section] = {
    "designs": section_designs,
    "validation": section_validation,
    "measured": section_measured,
}
SEEDS = 5
NOTES = (
    "The robot is simulated with table 4 as truth. Its values are not those of a possible robot: M(q) is "
    "indefinite in every pose, so torques are those of the inverse model along motions that are followed "
    "exactly. The second I_xx4r of table 4 is taken for XX5R, by its place.",
    "Designs: five harmonics of 0.1 Hz, 625 samples, the smaller side of table 1, nominal speeds, "
    "accelerations of 2 v_max per second (assumed: P3 prints none), bounds (15)–(17). A seed is a random "
    "start, the same for J1, J2 and J3. ours is the median of the seeds, worst the seed farthest from "
    "being accepted.",
    "Eq 18 has the sign of q(0) wrong (−Σ b/(ω l) + q_0 by eq 10) and eq 20 lost a factor l (q̈(0) = ω Σ "
    "l b): taken literally, the motion would neither start at zero nor at rest. The regroupings of XX2r "
    "and XZ2r in §4.1 are wrong, too (docs/errata.md).",
    "J1 as printed, 1/Π, is below 1e-180 at a random start: its gradient is below any tolerance and a "
    "solver stops at once. As Σ log ‖W_g‖² it never overflows, but it does not see columns that become "
    "parallel: more than half of all starts end with a column-scaled condition above 100, which is told. "
    "J2 is printed with the wrong sign: minimised, it would hold the robot still.",
    "P3's ratio of times, 1 : 16 : 19, is not one of the criteria: with exact gradients most of the time "
    "goes into the regressor, which they share.",
    "Validation: white torque noise with the RMS of table 5, one period, WLS, five draws; RMS over the "
    "samples of ten random motions and the draws of predicted less noise-free torque, summed over the "
    "joints. Judged by the median over the seeds, on motions as large as the limits allow. The same ten as "
    "they are drawn, with 60 % of the limits, are shown: they ask less of a model, and the error after a "
    "random motion is about 5 N m there (its mean 5.9), less than the 5.5 that are held above.",
    "Part of what a random motion lacks is size: filling its own limits, it predicts about as well as J3.",
    "P3's residuals (tables 5, 6, 8) are modelling errors of a real robot: friction at low speed, ripple. "
    "Ours are white by construction, of the size of table 5, so they cannot depend on the motion; the "
    "torque error without noise is what tells designs apart.",
    "The measured chain: three periods, positions rounded to the resolution of table 1, the same torque "
    "noise, their mean; 2 Hz where a row says nothing else, central differences, RLOESS with 2 % and 1.5 "
    "%, decimation by 2. σ takes smoothed rows for independent and is too small. Were the noise √3 times "
    "as large, so that the mean period has that of table 5, Ia3 would be lost on one seed in seven.",
    "“We repeated three times, therefore 625 samples”: three periods are 1875 samples and 11250 rows "
    "(§3.3); 625 and 3750 rows (§4.5) are their mean. The spans fit the mean: 2 % of three periods is 37 "
    "samples, 0.6 s, and smears the jumps of friction.",
    "A cut-off of 0.5 Hz sits on the fifth harmonic of the motion itself and halves it.",
    "P3's low-pass, 0.016 and 0.16 rad per sample, is read in units of π: 0.5 and 5 Hz. Literally its "
    "pass band would end at 0.16 Hz, below the second harmonic. That RLOESS is better is confirmed for "
    "the torque error, not for the residual, which is noise.",
    "“WLS and TLS do not improve”: confirmed for TLS, which is no better than WLS on any criterion's "
    "motion. Refuted for WLS, on the motions of J2 and J3 and for the parameters of links 4 to 6 on all.",
    "The condition number 108 of §4.3 lies between those of J2 and J3 here; those of J1 are far larger. "
    "By P3's own way, OLS on J1's motion, Ia3 is often lost.",
)


def run(*, section: str | None = None, seeds: int = SEEDS, progress: Progress = no_progress) -> CaseResult:
    """All tables and figures, or those of one section.

    Args:
        section: "designs", "validation" or "measured"; all when None.
        seeds: how many random starts of each design.
        progress: told which section and how many seeds are done.
    """
    if section is not None and section not in SECTIONS:
        raise unknown_name("section", section, SECTIONS)
    if seeds < 1:
        raise DynidError(f"{seeds} seeds were asked for; give at least 1.")
    runs = [ChainRuns(seed) for seed in range(seeds)]
    validation_rows(full=False)  # what all seeds share is made, and compiled, before they run side by side
    # One after the other: the time of a design is shown, and two at once would share the cores.
    LocalExecutor().map(lambda own: own.designs, runs, progress=progress, what="seeds designed")
    found: list[Row] = []
    drawn: list[Figure] = []
    for name in SECTIONS if section is None else (section,):
        make = SECTIONS[name]
        # A run keeps what its rows need: each is filled by the rows of its own first.
        LocalExecutor(workers=None).map(
            lambda own, make=make: make([own]), runs, progress=progress, what=f"seeds of {name}"
        )
        found += make(runs)
        drawn += figures_of(name, runs[0])
    return CaseResult("tx90", TITLE, tuple(found), NOTES, tuple(drawn))


CASE = Case("tx90", TITLE, None, run, ("section", "seeds"))
