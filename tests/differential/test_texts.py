"""Bodies that differ from those before in a way that a reader of text would take for nothing, or
would take for more than it is.

What a server answers to a body does not depend on the bodies that came before: a second server gets
each of them alone.
"""

import orjson
import pytest

from tests.differential.servers import MERGE, PODS, new_cluster, own, send

EARLIER = 4
CONTAINERS = b'[{"name":"main","image":"busybox","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]}]'
PLAIN = b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"@","labels":{"app":"a"}},"spec":{"containers":%b}}' % CONTAINERS
REST = b'"spec":{"containers":%b}' % CONTAINERS
HEAD = b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"@"'


def within(text: bytes) -> bytes:
    """The plain body with something else for its containers' fields."""
    return PLAIN.replace(b'"image":"busybox"', b'"image":"busybox",' + text)


BODIES: dict[str, bytes] = {
    "spec in the text of an annotation": HEAD + b',"annotations":{"a":"{\\"spec\\":{\\"containers\\":[]}}"}},' + REST + b"}",
    "the end of the plain body as an annotation": HEAD + b',"annotations":{"a":' + orjson.dumps((REST + b"}").decode()) + b"}}," +
        REST + b"}",
    "spec as the key of an annotation": HEAD + b',"annotations":{"spec":"x"}},' + REST + b"}",
    "spec as the key of a label": HEAD + b',"labels":{"spec":"x"}},' + REST + b"}",
    "spec as the key of a node's label": PLAIN[:-2] + b',"nodeSelector":{"spec":"x"}}}',
    "spec in the value of a variable": PLAIN.replace(b'"value":"1"', b'"value":"\\"spec\\":{}"'),
    "spec within metadata": HEAD + b"," + REST + b"}}",
    "spec within an unknown field": b'{"extra":{' + REST + b'},"metadata":{"name":"@"},' + REST + b"}",
    "spec in an owner": HEAD + b',"ownerReferences":[{"spec":{},"apiVersion":"v1","kind":"A","name":"a","uid":"u"}]},' +
        REST + b"}",
    "spec first": b"{" + REST + b',"apiVersion":"v1","kind":"Pod","metadata":{"name":"@","labels":{"app":"a"}}}',
    "spec only": b"{" + REST + b"}",
    "spec twice, the same": PLAIN[:-1] + b"," + REST + b"}",
    "spec twice, another one last": PLAIN[:-1] + b',"spec":{"containers":[{"name":"other","image":"x"}]}}',
    "spec twice, another one first": PLAIN.replace(b'"metadata"', b'"spec":{"containers":[]},"metadata"'),
    "metadata twice": PLAIN[:-1] + b',"metadata":{"name":"@","labels":{"app":"b"}}}',
    "metadata before and after": PLAIN.replace(b'"kind":"Pod",', b'"kind":"Pod","metadata":{"generateName":"g-"},'),
    "a name twice": PLAIN.replace(b'"name":"@"', b'"name":"first","name":"@"'),
    "a label twice": PLAIN.replace(b'"app":"a"', b'"app":"b","app":"a"'),
    "an image twice": within(b'"image":"other"'),
    "a kind twice": PLAIN.replace(b'"kind":"Pod"', b'"kind":"Job","kind":"Pod"'),
    "another kind last": PLAIN[:-1] + b',"kind":"Job"}',
    "a status": PLAIN[:-1] + b',"status":{"phase":"Running"}}',
    "an empty status": PLAIN[:-1] + b',"status":{}}',
    "an unknown field at the end": PLAIN[:-1] + b',"more":1}',
    "an unknown field of the spec": PLAIN[:-2] + b',"more":1}}',
    "blanks": PLAIN.replace(b":", b" : ").replace(b",", b" ,\n"),
    "blanks before the spec's colon": PLAIN.replace(b'"spec":', b'"spec" :'),
    "an escape in the key of the spec": PLAIN.replace(b'"spec":', b'"sp\\u0065c":'),
    "a capital in the key of the spec": PLAIN.replace(b'"spec":', b'"Spec":'),
    "both spellings of the spec": PLAIN[:-1] + b',"Spec":{"containers":[]}}',
    "the same keys in another order": PLAIN.replace(b'"name":"main","image":"busybox"', b'"image":"busybox","name":"main"'),
    "the same variables in another order": PLAIN.replace(
        b'{"name":"A","value":"1"},{"name":"B","value":"2"}', b'{"name":"B","value":"2"},{"name":"A","value":"1"}'),
    "a null": within(b'"command":null'),
    "an empty list": within(b'"command":[]'),
    "an empty map": within(b'"resources":{}'),
    "something after the end": PLAIN + b"}",
    "a blank after the end": PLAIN + b"\n",
    "cut short": PLAIN[:-1],
    "the name as a number": PLAIN.replace(b'"name":"@"', b'"name":1'),
    "the spec as a text": HEAD + b'},"spec":"x"}',
    "no spec": HEAD + b"}}",
    "a null for the spec": HEAD + b'},"spec":null}',
} | {
    f"seconds as {text.decode()}": PLAIN[:-2] + b',"terminationGracePeriodSeconds":' + text + b"}}"
    for text in (b"1", b"1.0", b"1e0", b"10e-1", b"1.5", b"-1", b"-0", b"0", b"01", b'"1"', b"1E0", b"9223372036854775808")
} | {
    f"processors as {text.decode()}": within(b'"resources":{"requests":{"cpu":' + text + b"}}")
    for text in (b"1", b"1.0", b"1e0", b'"1"', b'"1.0"', b'"1000m"', b"0.5", b'"500m"', b"true", b"1e-9")
}
DIRECTIVES = ("Warn", "Strict", "Ignore")


@pytest.mark.parametrize("directive", DIRECTIVES)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_a_body_means_what_it_means_alone(body: bytes, directive: str) -> None:
    """Given plain bodies, a body that is nearly one of them several times over, and plain ones
    again When each is posted to one server / then each gets the answer of a server that sees no
    other body.
    """
    query = {"fieldValidation": directive}
    async with new_cluster() as cluster, new_cluster() as fresh, new_cluster() as other:
        alone = await send(fresh, "POST", PODS, body.replace(b"@", b"alone"), query=query)
        plain = await send(other, "POST", PODS, PLAIN.replace(b"@", b"alone"), query=query)
        assert plain[0] == 201
        turns = [(PLAIN, plain)] * EARLIER + [(body, alone)] * EARLIER + [(PLAIN, plain), (body, alone), (PLAIN, plain)]
        for number, (text, expected) in enumerate(turns):
            code, answer = await send(cluster, "POST", PODS, text.replace(b"@", b"n%04d" % number), query=query)
            assert code == expected[0], answer
            assert own(answer) == own(expected[1]) or said(answer, b"n%04d" % number) == said(expected[1], b"alone")


def said(answer: dict[str, object], name: bytes) -> bytes:
    """A Status without the name that was asked for."""
    return orjson.dumps(answer).replace(name, b"NAME") if answer.get("kind") == "Status" else b""


async def test_patches_of_the_same_text_on_other_objects_are_worked_out_for_each() -> None:
    """Given two pods that are not alike / when the same bytes patch both, again and again / then
    each result is its own.
    """
    patch = b'{"metadata":{"annotations":{"spec":"{\\"spec\\":1}","n":null}}}'
    async with new_cluster() as cluster:
        for name, image in ((b"a", b"one"), (b"b", b"two")):
            body = PLAIN.replace(b"@", name).replace(b"busybox", image)
            assert (await send(cluster, "POST", PODS, body))[0] == 201
        for _ in range(EARLIER):
            for name, image in (("a", "one"), ("b", "two")):
                code, answer = await send(cluster, "PATCH", f"{PODS}/{name}", patch, MERGE)
                assert (code, answer["spec"]["containers"][0]["image"]) == (200, image)
                assert answer["metadata"]["annotations"] == {"spec": '{"spec":1}'}
