"""Go templates, carried out on a tree of JSON. Upstream: text/template/exec.go and funcs.go.

What is missing is nothing, and prints as ``<no value>``, as with Go; a field of nothing is nothing
too, where Go may complain.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fakekube_controllers.kubelet.stages.functions import BUILT_IN, shown
from fakekube_controllers.kubelet.stages.template import Node, Operand, Pipeline, Template, TemplateError

Functions = Mapping[str, Callable[..., Any]]
MAX_DEPTH = 100


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


def render(template: Template, data: Any, functions: Functions) -> str:
    """The text that a template makes of data, with these functions besides the common ones.

    Raises TemplateError.
    """
    writer = _Writer(template, {**BUILT_IN, **functions}, data)
    writer.walk(template.body, data)
    return "".join(writer.written)


class _Writer:
    def __init__(self, template: Template, functions: Functions, root: Any) -> None:
        self._template, self._functions = template, functions
        self._scopes: list[dict[str, Any]] = [{"$": root}]
        self._depth = 0
        self.written: list[str] = []

    def walk(self, nodes: list[Node], dot: Any) -> None:
        """Write what the nodes come to."""
        for node in nodes:
            try:
                self._node(node, dot)
            except (TypeError, ValueError, KeyError, IndexError, ArithmeticError, AttributeError, OverflowError) as error:
                if isinstance(error, TemplateError):
                    raise
                raise TemplateError(f"line {node.line}: {error}") from error

    def _node(self, node: Node, dot: Any) -> None:
        match node.kind:
            case "text":
                self.written.append(node.text)
            case "break":
                raise _Break
            case "continue":
                raise _Continue
            case "template":
                self._call(node, dot)
            case "range":
                self._range(node, dot)
            case "action":
                assert node.pipeline is not None, "it has one"
                value = self._pipeline(node.pipeline, dot)
                if not node.pipeline.variables:
                    self.written.append(shown(value))
            case _:
                self._branch(node, dot)

    def _branch(self, node: Node, dot: Any) -> None:
        assert node.pipeline is not None, "it has one"
        self._scopes.append({})
        value = self._pipeline(node.pipeline, dot)
        if value:
            self.walk(node.body, value if node.kind == "with" else dot)
        else:
            self.walk(node.otherwise, dot)
        self._scopes.pop()

    def _range(self, node: Node, dot: Any) -> None:
        assert node.pipeline is not None, "it has one"
        pipeline = node.pipeline
        value = self._commands(pipeline, dot)
        pairs: list[tuple[Any, Any]]
        if isinstance(value, dict):
            pairs = sorted(value.items())
        elif isinstance(value, int) and not isinstance(value, bool):
            pairs = [(number, number) for number in range(value)]
        else:
            pairs = list(enumerate(value or ()))
        depth = len(self._scopes)
        for key, element in pairs:
            names = pipeline.variables
            self._scopes.append(dict(zip(names, (key, element) if len(names) == 2 else (element,), strict=False)))
            try:
                self.walk(node.body, element)
            except _Continue:
                continue
            except _Break:
                break
            finally:
                del self._scopes[depth:]
        if not pairs:
            self.walk(node.otherwise, dot)

    def _call(self, node: Node, dot: Any) -> None:
        body = self._template.defined.get(node.text)
        if body is None:
            raise TemplateError(f'line {node.line}: template "{node.text}" not defined')
        if self._depth >= MAX_DEPTH:
            raise TemplateError(f"line {node.line}: templates call each other without end")
        value = self._pipeline(node.pipeline, dot) if node.pipeline is not None else None
        scopes, self._scopes = self._scopes, [{"$": value}]
        self._depth += 1
        self.walk(body, value)
        self._depth -= 1
        self._scopes = scopes

    def _pipeline(self, pipeline: Pipeline, dot: Any) -> Any:
        value = self._commands(pipeline, dot)
        for name in pipeline.variables:
            if pipeline.declares:
                self._scopes[-1][name] = value
            else:
                self._scope_of(name)[name] = value
        return value

    def _scope_of(self, name: str) -> dict[str, Any]:
        scope: dict[str, Any]
        for scope in reversed(self._scopes):
            if name in scope:
                return scope
        raise TemplateError(f"undefined variable {name}")

    def _commands(self, pipeline: Pipeline, dot: Any) -> Any:
        value: tuple[Any, ...] = ()
        for command in pipeline.commands:
            value = (self._command(command, dot, value),)
        return value[0]

    def _command(self, command: list[Operand], dot: Any, last: tuple[Any, ...]) -> Any:
        head, *rest = command
        if head.kind != "function":
            if rest or last:
                raise TemplateError("can't give argument to non-function")
            return self._value(head, dot)
        if head.value in ("and", "or"):
            return self._short(head.value, rest, dot, last)
        arguments = [self._value(operand, dot) for operand in rest]
        return _taken(self._functions[head.value](*arguments, *last), head.path)

    def _short(self, name: str, operands: list[Operand], dot: Any, last: tuple[Any, ...]) -> Any:
        """``and`` and ``or`` look no further than they need."""
        value: Any = None
        for operand in operands:
            value = self._value(operand, dot)
            if bool(value) == (name == "or"):
                return value
        return last[0] if last else value

    def _value(self, operand: Operand, dot: Any) -> Any:
        match operand.kind:
            case "literal":
                return operand.value
            case "dot":
                return _taken(dot, operand.path)
            case "variable":
                return _taken(self._scope_of(operand.value)[operand.value], operand.path)
            case "function":
                return self._functions[operand.value]()
            case _:
                return _taken(self._pipeline(operand.value, dot), operand.path)


def _taken(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise TemplateError(f"can't evaluate field {name} in {shown(value)!r}")
        value = value.get(name)
    return value
