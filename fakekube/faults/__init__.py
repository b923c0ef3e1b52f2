"""A control plane that fails on purpose: rules say which requests, and what goes wrong with them.

``rules`` is what people write, ``plan`` what is at work in a cluster, ``point`` where requests meet
it, ``streams`` what watches meet, ``answers`` the words of a real control plane. Nothing of it is
imported before somebody asks for a fault.
"""
