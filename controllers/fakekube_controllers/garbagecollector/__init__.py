"""The garbage collector: what is owned by nothing that exists is deleted.

Read ``graph.py`` first (who owns whom, touched by the informers' handlers only), then
``collector.py`` (what is done about it).
Upstream: pkg/controller/garbagecollector.
"""

from fakekube.runtime.lazy import OWNED
from fakekube_controllers import kube_controller

component = (
    kube_controller("garbagecollector", "generic-garbage-collector")
    .starts_with(OWNED)
    .runs("fakekube_controllers.garbagecollector.collector:GarbageCollector")
)
