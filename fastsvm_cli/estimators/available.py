"""Methods that an object has only where its model can do them, so that hasattr tells."""

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType


class available:
    """A decorator. check: called with the object; raises AttributeError, in words for the user, where it lacks the
    method."""

    def __init__(self, check: "Callable[..., None]"):
        self._check = check

    def __call__(self, method: "Callable") -> "_Available":
        return _Available(method, self._check)


class _Available:
    def __init__(self, method: "Callable", check: "Callable[..., None]"):
        self._method, self._check = method, check
        update_wrapper(self, method)  # type: ignore[arg-type]  # an object that becomes a method when it is asked for

    def __get__(self, instance: object, owner: "type | None" = None):
        if instance is None:
            return self._method
        self._check(instance)
        return MethodType(self._method, instance)
