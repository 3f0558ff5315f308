"""Arrays that are worked out when they are first asked for, as fields of a frozen object."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from threading import RLock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Later", "Memo", "as_kept", "kept", "puts_off"]

T = TypeVar("T")


class Memo(dict[str, Any]):
    """What was worked out once, by name; threads that ask for the same wait for the one that works it out."""

    def __init__(self, known: dict[str, Any] | None = None) -> None:
        super().__init__(known or {})
        self._making: dict[str, RLock] = {}

    def __reduce__(self) -> Any:
        return Memo, (dict(self),)  # locks stay in their process

    def once(self, key: str, make: Callable[[], T]) -> T:
        """``make()`` the first time, and then the same result."""
        if key not in self:
            with self._making.setdefault(key, RLock()):
                if key not in self:
                    self[key] = make()
        return self[key]  # type: ignore[no-any-return]


class Later:
    """An array of a known length that ``make`` gives when it is needed, once."""

    __slots__ = ("_make", "_value", "length")

    def __init__(self, length: int, make: Callable[[], NDArray[Any]]) -> None:
        self.length, self._make = length, make
        self._value: NDArray[Any] | None = None

    def __len__(self) -> int:
        return self.length

    def value(self) -> NDArray[Any]:
        """The array, read-only."""
        make = self._make  # before the look at the value, which another thread may set meanwhile
        if self._value is None:
            made = make()
            made.flags.writeable = False
            self._value, self._make = made, _nothing
        return self._value


def _nothing() -> NDArray[Any]:
    """What is made no more: what a `Later` was made of is let go."""
    return np.empty(0)


class _Field:
    """A slot that may hold a `Later`, which is replaced by its array when the slot is read."""

    __slots__ = ("slot",)

    def __init__(self, slot: Any) -> None:
        self.slot = slot

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        found = self.slot.__get__(instance, owner)
        if isinstance(found, Later):
            found = found.value()
            self.slot.__set__(instance, found)
        return found

    def __set__(self, instance: Any, value: Any) -> None:
        self.slot.__set__(instance, value)


def puts_off(kind: type, names: Iterable[str]) -> None:
    """Let fields of a slotted data class hold a `Later`."""
    for name in names:
        setattr(kind, name, _Field(getattr(kind, name)))


def kept(instance: Any, name: str) -> Any:
    """A field of a slotted data class as it is kept: an array, or a `Later` that stays one."""
    slot = vars(type(instance))[name]
    return (slot.slot if isinstance(slot, _Field) else slot).__get__(instance, type(instance))


def as_kept(instance: Any) -> dict[str, Any]:
    """All fields as they are kept."""
    return {f.name: kept(instance, f.name) for f in fields(instance)}
