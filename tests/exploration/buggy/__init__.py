"""Small operators with the bugs that the literature describes, and their mended twins.

Sieve (Sun et al., OSDI 2022) restarts operators, and lets them see old states, or not all of them;
Acto (Gu et al., SOSP 2023) changes what is wanted, and looks whether it is reached. Each docstring
says the pattern, and the first operator that was found to have it where there is one.
"""
