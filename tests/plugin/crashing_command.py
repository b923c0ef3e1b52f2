"""An operator as a command that starts quickly, with nothing but HTTP: it makes a Secret for each
ConfigMap with the label ``shop``.

    python crashing_command.py [EXIT_CODE]

has the cluster of $KUBECONFIG; with an exit code it ends when it has seen one.
"""

import json
import os
import sys
import urllib.request
from pathlib import Path
from urllib.error import HTTPError

import yaml

CONFLICT = 409

kubeconfig = yaml.safe_load(Path(os.environ["KUBECONFIG"]).read_text())
URL = kubeconfig["clusters"][0]["cluster"]["server"] + "/api/v1/namespaces/default/"
HEADERS = {"Authorization": "Bearer " + kubeconfig["users"][0]["user"]["token"], "Content-Type": "application/json"}


def asked(path, body=None):
    return urllib.request.urlopen(urllib.request.Request(URL + path, body and json.dumps(body).encode(), HEADERS))


print("watching", flush=True)
for line in asked("configmaps?watch=1&labelSelector=shop=web"):
    event = json.loads(line)
    if event["type"] == "ADDED":
        if sys.argv[1:]:
            print("no\nway")
            sys.exit(int(sys.argv[1]))
        try:
            asked("secrets", {"metadata": {"name": event["object"]["metadata"]["name"]}}).close()
        except HTTPError as error:
            if error.status != CONFLICT:
                raise
