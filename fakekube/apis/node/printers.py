"""How RuntimeClasses print."""

from fakekube.apis.printing import AGE, NAME, column, table

RUNTIME_CLASS = table(NAME, column("Handler", "handler"), AGE)
