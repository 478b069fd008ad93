"""A mapping that cannot change, so that what holds it can be hashed, copied and pickled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(Mapping[K, V]):
    """The content of a mapping at one moment; equal to any mapping of the same content.

    Args:
        content: what it holds; its values must be hashable for the whole to be.
    """

    __slots__ = ("_content",)
    _content: dict[K, V]

    def __init__(self, content: Mapping[K, V] | None = None) -> None:
        """Keep a copy, so that later changes of the original are not seen."""
        object.__setattr__(self, "_content", dict(content or {}))

    def __getitem__(self, key: K) -> V:
        """The value of a key."""
        return self._content[key]

    def __iter__(self) -> Iterator[K]:
        """Keys in the order given."""
        return iter(self._content)

    def __len__(self) -> int:
        """Number of keys."""
        return len(self._content)

    def __hash__(self) -> int:
        """Independent of the order, as equality is."""
        return hash(frozenset(self._content.items()))

    def __or__(self, other: Mapping[K, V]) -> dict[K, V]:
        """A dict of both; the other's values go first."""
        return {**self._content, **other}

    def __ror__(self, other: Mapping[K, V]) -> dict[K, V]:
        """A dict of both; this one's values go first."""
        return {**other, **self._content}

    def __repr__(self) -> str:
        """As a dict."""
        return repr(self._content)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: it is frozen."""
        raise AttributeError(f"A frozen mapping cannot change, so {name!r} cannot be set.")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse: it is frozen."""
        raise AttributeError(f"A frozen mapping cannot change, so {name!r} cannot be deleted.")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied as its content."""
        return FrozenDict, (self._content,)
