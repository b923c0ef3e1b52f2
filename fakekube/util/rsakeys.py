"""A pair of RSA keys that follows from a secret.

Libraries draw keys at random, so that no two runs of a test would see the same signatures. Here
primes are looked for from a place on that the secret says; who knows it knows the key. Upstream:
crypto/rsa and FIPS 186-5, appendix A.1.3, by which the primes have their two highest bits set.
"""

import hashlib
from math import gcd
from typing import NamedTuple

from fakekube.util.memory import memoized

EXPONENT = 65537
PRIME_BITS = 1024
SIEVED = 1 << 13
"""How many odd numbers are looked at together; a prime is among them nearly always."""
BASES = (2, 3, 5, 7, 11, 13, 17, 19)
"""Of the Miller-Rabin tests: enough for numbers that nobody has chosen."""


class RSANumbers(NamedTuple):
    """The modulus, both exponents and the primes."""

    n: int
    e: int
    d: int
    p: int
    q: int


def rsa_numbers(secret: bytes) -> RSANumbers:
    """The key of 2048 bits that follows from ``secret``. It takes a tenth of a second."""
    p, q = (_prime(secret + label) for label in (b"/p", b"/q"))
    return RSANumbers(p * q, EXPONENT, pow(EXPONENT, -1, (p - 1) * (q - 1)), max(p, q), min(p, q))


def _prime(secret: bytes) -> int:
    number = 0
    while True:
        data = hashlib.shake_256(secret + number.to_bytes(4, "big")).digest(PRIME_BITS // 8)
        start = int.from_bytes(data, "big") | 3 << PRIME_BITS - 2 | 1
        for place in _without_small_factors(start):
            candidate = start + 2 * place
            if candidate.bit_length() == PRIME_BITS and _is_prime(candidate) and gcd(candidate - 1, EXPONENT) == 1:
                return candidate
        number += 1


def _without_small_factors(start: int) -> list[int]:
    """The numbers of twos after which what begins at ``start`` has no small factor."""
    sieve = bytearray(b"\1") * SIEVED
    for prime in _small_primes():
        first = -start * pow(2, -1, prime) % prime
        sieve[first::prime] = bytes(len(range(first, SIEVED, prime)))
    return [place for place, stays in enumerate(sieve) if stays]


@memoized(1)
def _small_primes() -> tuple[int, ...]:
    """The odd primes below 2**14."""
    sieve = bytearray(b"\1") * (1 << 14)
    for number in range(3, 1 << 7, 2):
        if sieve[number]:
            sieve[number * number :: 2 * number] = bytes(len(range(number * number, 1 << 14, 2 * number)))
    return tuple(number for number in range(3, 1 << 14, 2) if sieve[number])


def _is_prime(number: int) -> bool:
    odd, twos = number - 1, 0
    while not odd & 1:
        odd, twos = odd >> 1, twos + 1
    return all(_passes(number, base, odd, twos) for base in BASES)


def _passes(number: int, base: int, odd: int, twos: int) -> bool:
    """One Miller-Rabin test, where ``number`` - 1 is ``odd`` * 2**``twos``."""
    power = pow(base, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False
