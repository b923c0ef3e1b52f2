"""A kubelet that runs nothing: it decides how pods fare, on the cluster's clock, and says so in their status.

Read ``kubelet.py`` first, then ``podrun.py`` (a pod's life as a chain of instants) and ``outcomes.py`` (who decides how it ends);
``nodeagent.py`` speaks for the nodes, ``streams.py`` answers exec, attach, port-forward and logs that are followed, ``stages``
lets KWOK's Stages decide instead. ``docs/kubelet.md`` is the manual.
Upstream: pkg/kubelet, and KWOK for the idea. Left out: volumes, devices, references to ConfigMaps and Secrets, postStart hooks,
resizes.
"""

from fakekube_controllers.kubelet.kubelet import Kubelet as Kubelet
from fakekube_controllers.kubelet.outcomes import Outcome as Outcome
from fakekube_controllers.kubelet.process import Connection as Connection
from fakekube_controllers.kubelet.process import Process as Process
from fakekube_controllers.kubelet.process import Result as Result
