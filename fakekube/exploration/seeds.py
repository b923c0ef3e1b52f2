"""Which seeds an option names."""


MOST = 1 << 62
"""Seeds are below it."""


class SeedsError(ValueError):
    """A text that names no seeds; it says so."""


def seeds_of(value: object) -> range:
    """The seeds that an option names: 200 are 1 to 200, ``201-400`` those. Raises SeedsError."""
    first, dash, last = str(value).strip().partition("-")
    try:
        seeds = range(int(first), int(last) + 1) if dash else range(1, int(first) + 1)
    except ValueError:
        seeds = range(0)
    if not seeds or seeds[0] < 0:
        raise SeedsError(f"{value!r} are no seeds: say how many, 200, or which, 201-400")
    if seeds[-1] >= MOST:
        raise SeedsError(f"{value!r} are too many seeds: there are {MOST:,}")
    return seeds
