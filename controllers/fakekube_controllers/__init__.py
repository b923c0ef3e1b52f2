"""Controllers that make workloads live.

Each knows the API and the engine, and nothing of the server or of another.

They are found through the entry-point group ``fakekube.controllers``, where any package can add its
own. A package's ``__init__.py`` declares its controller, and is all that a cluster without objects
for it imports.
"""

from fakekube.client.users import controller_account
from fakekube.runtime.builder import Builder, controller


def kube_controller(name: str, account: str = "") -> Builder:
    """Begin to declare a controller that upstream runs in kube-controller-manager; that is its user
    agent.

    ``account`` is the service account in kube-system that it acts as, by upstream's name; without
    one it acts as kube-controller-manager itself.
    """
    user = controller_account(account) if account else None
    return controller(name).with_options(user_agent="kube-controller-manager", user=user)
