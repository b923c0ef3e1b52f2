import pytest

from fakekube.storage.memory import Bucket, Storage
from tests.storage.pods import pods


@pytest.fixture
def storage() -> Storage:
    return Storage(check_trees=True)


@pytest.fixture
def bucket(storage: Storage) -> Bucket:
    return pods(storage)
