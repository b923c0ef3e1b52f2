"""Admission checks: what else must agree before a Workload with quota is admitted.

``deciding.py`` makes one of a Python function, for tests and demos; ``provisioning.py`` is that of
upstream which asks an autoscaler for nodes. The contract is the same for every controller: the
AdmissionCheck says that it is active, and the state of the check in ``status.admissionChecks`` of a
Workload goes from Pending to Ready, Retry or Rejected. Upstream: pkg/controller/admissionchecks.
"""
