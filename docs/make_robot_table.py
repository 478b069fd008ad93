"""Write the table of shipped robots into the README: `python docs/make_robot_table.py`."""

from __future__ import annotations

from pathlib import Path

import dynid

README = Path(__file__).parents[1] / "README.md"
START, END = "<!-- robots: written by docs/make_robot_table.py -->", "<!-- end of robots -->"


def robot_table() -> str:
    """Markdown rows: axes, joints, standard and base parameters, own values of every robot of the catalog."""
    lines = [
        "| robot | what it is | axes | joints | standard parameters | base parameters | own values serve |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for name in dynid.catalog():
        robot = dynid.load_robot(name)
        counts = (robot.n_coordinates, len(robot.movable), len(robot.table), len(dynid.find_base(robot)))
        use = "inverse dynamics" if robot.inverse_only else "simulation"
        lines.append(f"| `{name}` | {robot.title} | {' | '.join(map(str, counts))} | {use} |")
    return "\n".join(lines)


def with_table(text: str, table: str) -> str:
    """The README with the table between its marks."""
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n{table}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8"), robot_table()), encoding="utf-8")
    print(f"wrote the table of {README}")
