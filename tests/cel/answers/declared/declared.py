"""The functions and macros of all libraries, as they are declared to the checker.

``python -m tests.cel.answers.declared.declared`` writes it down again, for review.
"""

from collections.abc import Iterator
from pathlib import Path

from fakekube.cel.library import bindings, jsonpatch, kubernetes
from fakekube.cel.standard.library import library as standard

FILE = Path(__file__).parent / "declared.txt"


def lines() -> Iterator[str]:
    """By library: each overload with its types, and each macro; then what older releases lack."""
    libraries = (standard(), *kubernetes.libraries(37), jsonpatch.library(), bindings.library())
    for library in libraries:
        yield f"# {library.name}"
        for function in library.functions:
            for one in function.overloads:
                target, given = ("", one.arguments) if not one.receiver else (f"{one.arguments[0]}.", one.arguments[1:])
                marks = "".join(f" {name}" for name in ("cross_type", "guarded", "dear", "pausing") if getattr(one, name))
                yield f"{target}{function.name}({', '.join(map(str, given))}) -> {one.result}: {one.id}{marks}"
        for macro in library.macros:
            yield f"macro {'.' if macro.receiver else ''}{macro.name}/{macro.arguments}"
        for name, type_ in library.named_types.items():
            yield f"type {name}: {type_}"
    for minor in range(25, 37):
        for stored in (True, False):
            names = [library.name for library in kubernetes.libraries(minor, stored=stored)]
            yield f"1.{minor} {'stored' if stored else 'new'}: {', '.join(names)}"


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n")
