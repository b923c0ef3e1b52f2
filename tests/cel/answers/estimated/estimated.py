"""What selectors of devices and expressions of admission may cost at least and at most.

``python -m tests.cel.answers.estimated.estimated`` writes it down again, for review.
"""

from collections.abc import Iterator
from pathlib import Path

from fakekube.cel import admission, devices, errors
from fakekube.cel.environment import Environment

FILE = Path(__file__).parent / "estimated.txt"
DOMAIN, NAME = "device.attributes['a.example.com']", "device.attributes['a.example.com'].name"
CAPACITY = "device.capacity['a.example.com']"
OF_DEVICES = (
    "device", "device.driver", "device.attributes", "device.capacity", "device.allowMultipleAllocations", DOMAIN, NAME, CAPACITY,
    f"{CAPACITY}.name",
)
OF_ADMISSION = (
    "object", "object.spec.name", "oldObject.metadata.labels", "params.list", "request", "request.kind", "request.kind.group",
    "request.userInfo", "request.userInfo.groups", "request.userInfo.extra", "request.userInfo.extra['a']", "request.dryRun",
    "request.options", "namespaceObject", "namespaceObject.metadata.labels", "namespaceObject.metadata.creationTimestamp",
    "namespaceObject.status.conditions", "namespaceObject.metadata.generation",
    "kubernetes.UserInfo{}", "kubernetes.UserInfo{username: 'a', groups: request.userInfo.groups}",
    "kubernetes.UserInfo{?username: optional.of('a'), groups: ['a']}", "authorizer.group('apps').resource('pods')",
    "authorizer.group('').resource('pods').namespace('x').fieldSelector(request.name).labelSelector(request.name)",
    "authorizer.path(request.name).check('get')", "authorizer.requestResource.check(request.name).allowed()",
    "authorizer.serviceAccount(request.namespace, 'a').group('').resource('pods').check('get').reason()",
)
TEMPLATES = (
    "{}", "{0} == {0}", "{0} != {0}", "[{0}] == [{0}]", "[{0}, {0}].size()", "{{'a': {0}}}.a == {0}", "dyn({0}) == dyn({0})",
    "{0} in [{0}]", "'a' in {}", "size({})", "{}.size()", "{}.all(x, x == x)", "{}.exists(x, true)", "{}.exists_one(x, x != x)",
    "{}.map(x, x)", "{}.filter(x, true)", "{}.all(i, x, x == x && i == i)", "{}.exists(i, x, i != i)",
    "{}.transformList(i, x, x)", "{}.transformMap(i, x, x)", "{0} + {0}", "{0} < {0}", "{0} ? 1 : 2", "!{}", "{}['a']",
    "{}['a'] == 'b'", "{}[0]", "{}.?a", "{}[?'a'].orValue('')", "has({}.name)", "has({}.finalizers)", "cel.bind(v, {}, v == v)",
    "string({})", "{}.contains('abc')", "{}.startsWith('abc')", "{}.endsWith('abc')", "{}.matches('[a-c]+')", "{}.split('a')",
    "{}.replace('a', 'b')", "{}.upperAscii()", "{}.find('a')", "{}.findAll('a')", "{}.indexOf('a')", "{}.substring(1)",
    "{}.charAt(0)", "{}.join()", "{}.join(',')", "{}.sort()", "{}.sum()", "{}.max()", "{}.includes('a')", "{}.indexOf('b')",
    "{}.isGreaterThan({})", "{}.compareTo(quantity('1'))", "{}.asInteger()", "optional.of({}).hasValue()",
    "true ? {0} : {0}", "({0} == {0}) || ({0} == {0})", "({0} == {0}) && ({0} == {0})", "'%s'.format([{}])", "{}.getFullYear()",
    "sets.contains({0}, {0})", "sets.intersects({}, ['a'])", "{}.flatten()", "{}.distinct()", "{}.map(x, x + x)",
    "{}.map(x, [x, x])", "{}.all(x, {0}.all(y, x == y))", "quantity({})", "isQuantity({})", "semver({})", "url({})",
    "format.dns1123Label().validate({})", "lists.range(size({}))", "{}.reverse()", "{}.lastIndexOf('a')", "{}.trim()",
)


def environments() -> Iterator[tuple[str, Environment, tuple[str, ...]]]:
    """Their names, and what is asked in them."""
    for name, minor, multiple, lists in (("devices", 37, True, True), ("devices without lists", 35, False, False)):
        yield name, devices.environment(minor, stored=False, multiple_allocations=multiple, list_attributes=lists), OF_DEVICES
    yield "admission", admission.environment(37, admission.Seen(params=True), stored=True), OF_ADMISSION


def line(text: str, within: Environment) -> str | None:
    """The least and the most; None for what does not compile."""
    try:
        program = within.compile(text)
    except errors.CelError:
        return None
    estimate = program.estimate()
    return f"{text}  # {program.type}, {estimate.min} to {estimate.max}"


def lines() -> Iterator[str]:
    """By environment: the expressions that it takes."""
    for name, within, asked in environments():
        yield f"# {name}"
        for value in asked:
            for template in TEMPLATES:
                told = line(template.replace("{}", "{0}").format(value), within)
                if told is not None:
                    yield told


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n")
