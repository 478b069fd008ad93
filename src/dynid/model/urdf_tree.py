"""The tree of a URDF: which link hangs on which, and the order of its joints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from dynid.core.errors import ModelError, unknown_name
from dynid.model.xml_safe import required


@dataclass(frozen=True, slots=True)
class Edge:
    """The links a joint stands between."""

    parent: str
    child: str


def named(elements: Iterable[Element], what: str) -> dict[str, Element]:
    """Elements by name; a name that is missing or used twice is refused."""
    result: dict[str, Element] = {}
    for element in elements:
        name = required(element.attrib, "name", f"A <{what}>")
        if name in result:
            raise ModelError(f"Two {what}s are named {name!r}; names must be unique.")
        result[name] = element
    return result


def edge_of(name: str, element: Element, links: Mapping[str, Element]) -> Edge:
    """The parent and child of a joint, which must be links of the file."""
    ends = []
    for side in ("parent", "child"):
        where = f"The <{side}> of joint {name!r}"
        end = element.find(side)
        if end is None:
            raise ModelError(f'Joint {name!r} has no <{side}>; give <{side} link="..."/>.')
        link = required(end.attrib, "link", where)
        if link not in links:
            raise unknown_name(f"{side} link of joint {name!r}", link, links)
        ends.append(link)
    return Edge(ends[0], ends[1])


def outward(links: Mapping[str, Element], edges: Mapping[str, Edge]) -> list[str]:
    """Names of the joints from the root outward, depth first, in the order of the file.

    Raises:
        ModelError: when links and joints are not one tree.
    """
    carried: dict[str, str] = {}
    children: dict[str, list[str]] = {name: [] for name in links}
    for name, edge in edges.items():
        if edge.child in carried:
            raise ModelError(
                f"Link {edge.child!r} is the child of both joint {carried[edge.child]!r} and joint {name!r}; "
                "a link hangs on one joint."
            )
        carried[edge.child] = name
        children[edge.parent].append(name)
    roots = [name for name in links if name not in carried]
    if not links:
        raise ModelError("The file has no <link>.")
    if len(roots) > 1:
        raise ModelError(
            f"The links {', '.join(repr(r) for r in roots[:5])} hang on no joint; one root link is "
            "allowed, so join them with fixed joints."
        )
    order: list[str] = []
    stack = list(reversed(children[roots[0]])) if roots else []
    while stack:
        name = stack.pop()
        order.append(name)
        stack += reversed(children[edges[name].child])
    reached = set(order)
    lost = [name for name in edges if name not in reached]
    if lost:
        raise ModelError(
            f"The joints {', '.join(repr(n) for n in lost[:5])} form a circle or hang on one; a URDF is a "
            "tree that starts at one root link."
        )
    return order
