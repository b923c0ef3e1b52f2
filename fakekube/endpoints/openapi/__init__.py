"""OpenAPI documents, made of the schemas and of the Kinds that are served.

Read ``documents.py`` first.
"""
