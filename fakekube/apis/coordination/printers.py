"""How Leases and LeaseCandidates print."""

from fakekube.apis.printing import AGE, NAME, column, table

LEASE = table(NAME, column("Holder", "spec.holderIdentity"), AGE)
LEASE_CANDIDATE = table(
    NAME,
    column("LeaseName", "spec.leaseName"),
    column("BinaryVersion", "spec.binaryVersion"),
    column("EmulationVersion", "spec.emulationVersion"),
    AGE,
)
