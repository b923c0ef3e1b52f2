"""What ends otherwise than undisturbed, and why that is right."""

KNOWN = {
    ("daemon-set", "slow-deliveries"): (
        "daemonset hears of nodes 5 s late",
        ("a pod that no node has taken yet stands in no index of nodes, so a taint that is heard of after it was made does not"
         " bring its DaemonSet back, in upstream's syncNodeUpdate as here; the next change of the DaemonSet does")),
    ("replaced-worker", "intermediate-states"): (
        "manager/kueue dies before its write 36 is committed",
        ("a worker counts as lost since it was first tried, in upstream's newRemoteClient as here, so a manager that dies at"
         " the end of the wait begins another, in which the worker comes back, and the Job goes on where it was")),
}
"""By play and strategy: the faults that it takes, and the reason."""


def unknown(points, play, strategies):
    """What ended otherwise, as text, without what is known to."""
    faults = [fault for (name, strategy), (fault, _) in KNOWN.items() if name == play.name and strategy in strategies]
    return [str(point) for point in points.differing if not any(fault in point.where for fault in faults)]
