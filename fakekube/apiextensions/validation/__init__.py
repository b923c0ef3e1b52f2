"""What is wrong with the schemas, columns and paths of a CustomResourceDefinition.

``schemas.py`` has the order of it; read it first. What is wrong with the definition around them is
in ``fakekube/apis/apiextensions/validation.py``. Upstream:
apiextensions-apiserver/pkg/apis/apiextensions/validation and pkg/apiserver/schema.
"""
