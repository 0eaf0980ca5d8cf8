"""One test for hundreds of cases of a pure function: pytest takes some milliseconds for each test, such a case less."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

Test = Callable[..., Any]


def for_each(names: str, cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for all cases, as `parametrize` would, but as one test: it names every case that fails.

    All cases share the fixtures, so use it for what changes nothing.
    """
    arguments = names.split(", ")
    cases = list(cases)

    def decorate(test: Test) -> Test:
        def bind(case: Any) -> dict[str, Any]:
            return dict(zip(arguments, case if len(arguments) > 1 else (case,), strict=True))

        if inspect.iscoroutinefunction(test):

            @wraps(test)
            async def run_all(**fixtures: Any) -> None:
                failures = Failures(len(cases))
                for case in cases:
                    with failures.collect(case):
                        await test(**fixtures, **bind(case))
                failures.show()

        else:

            @wraps(test)
            def run_all(**fixtures: Any) -> None:
                failures = Failures(len(cases))
                for case in cases:
                    with failures.collect(case):
                        test(**fixtures, **bind(case))
                failures.show()

        others = [one for name, one in inspect.signature(test).parameters.items() if name not in arguments]
        run_all.__signature__ = inspect.Signature(others)  # type: ignore[attr-defined]
        return run_all

    return decorate


class Failures:
    """Those of the cases of one test, told together at its end."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._found: list[tuple[str, AssertionError]] = []

    @contextmanager
    def collect(self, case: Any) -> Iterator[None]:
        """Keep what a case asserted in vain; anything else ends the test and names the case."""
        try:
            yield
        except AssertionError as error:
            self._found.append((f"{case!r}: {error}", error))
        except BaseException as error:
            error.add_note(f"in the case {case!r}")
            raise

    def show(self) -> None:
        assert self._count, "there are no cases"
        if self._found:
            texts = "\n".join(text for text, _ in self._found[:20])
            raise AssertionError(f"{len(self._found)} of {self._count} cases fail:\n{texts}") from self._found[0][1]
