"""What schemathesis makes of our own OpenAPI: requests that the documents allow, and many that they
do not.
"""

import json
import random
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz.conftest import JSON, Target

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")

GROUPS = (
    "api/v1", "apis/apps/v1", "apis/batch/v1", "apis/autoscaling/v2", "apis/coordination.k8s.io/v1", "apis/policy/v1",
    "apis/networking.k8s.io/v1", "apis/rbac.authorization.k8s.io/v1", "apis/authorization.k8s.io/v1", "apis/discovery.k8s.io/v1",
)
OPERATIONS, EXAMPLES = 12, 5  # of a group, of an operation


def send(target: Target, case: Any) -> None:
    """One case, without a socket."""
    body = b"" if case.body.__class__.__name__ == "NotSet" else json.dumps(case.body, default=str).encode()
    query = {name: value if isinstance(value, list) else str(value) for name, value in (case.query or {}).items()}
    headers = {name.lower(): str(value) for name, value in (case.headers or {}).items()}
    target.send(
        case.method, unquote(case.formatted_path), body, case.media_type or JSON,
        query={name: [str(item) for item in value] if isinstance(value, list) else value for name, value in query.items()},
        headers=headers)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore")  # of a library that this project does not mend
@pytest.mark.parametrize("group", GROUPS)
def test_requests_made_of_the_documents(target: Target, group: str) -> None:
    """Given some operations of a group / when requests are made of their descriptions / then each
    has an answer.
    """
    document = target.read(f"/openapi/v3/{group}")
    schema = schemathesis.openapi.from_dict(document)
    operations = [result.ok() for result in schema.get_all_operations()]
    assert operations
    for operation in random.Random(group).sample(operations, min(OPERATIONS, len(operations))):

        @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def each(case: Any) -> None:
            send(target, case)

        each()
