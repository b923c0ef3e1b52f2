"""PodTemplates: a template on its own. Upstream: pkg/registry/core/podtemplate/strategy.go."""

from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.core import podspec_gates
from fakekube.apis.core.pod_warnings import template_warnings
from fakekube.apis.core.podspec_defaults import default_template
from fakekube.apis.core.podspec_validation import template_options, validate_template
from fakekube.registry.strategy import Strategy, WriteContext


class PodTemplateStrategy(Strategy):
    """``template`` at the top, no spec."""

    def default(self, obj: Tree, ctx: WriteContext) -> None:
        default_template(obj.setdefault("template", {}))

    def prepare_for_create(self, obj: Tree, ctx: WriteContext) -> None:
        podspec_gates.drop_disabled(obj["template"]["spec"], None, ctx.cluster.gate)

    def prepare_for_update(self, obj: Tree, old: Tree, ctx: WriteContext) -> None:
        pod, old_pod = obj["template"]["spec"], old["template"]["spec"]
        if pod is not old_pod:
            podspec_gates.drop_disabled(pod, old_pod, ctx.cluster.gate)

    def validate(self, obj: Tree, ctx: WriteContext) -> list[FieldError]:
        return validate_template(obj["template"], "template", template_options(ctx))

    def warnings(self, obj: Tree, old: Tree | None, ctx: WriteContext) -> list[str]:
        return template_warnings(obj["template"], "template")


STRATEGY = PodTemplateStrategy()
