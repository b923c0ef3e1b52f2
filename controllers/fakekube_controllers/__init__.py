"""Controllers that make workloads live. Each knows the API and the engine, and nothing of the server or of another.

They are found through the entry-point group ``fakekube.controllers``, where any package can add its own.
"""
