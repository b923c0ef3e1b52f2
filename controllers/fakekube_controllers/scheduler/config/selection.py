"""Which plugins a profile has at which extension point, by its configuration and the default ones.

Upstream: pkg/scheduler/apis/config/v1/default_plugins.go (mergePlugins),
framework/runtime/framework.go (expandMultiPointPlugins, updatePluginList, getValidScoreWeights).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube_controllers.scheduler.config.model import ConfigurationError, PluginChoice, PluginSet, Profile
from fakekube_controllers.scheduler.config.validation import POINTS
from fakekube_controllers.scheduler.framework.interface import Plugin
from fakekube_controllers.scheduler.runtime import METHODS

EVERYTHING = "*"


def _interface(point: str) -> str:
    """Upstream's name for the interface of an extension point: PreFilterPlugin."""
    return f"{point[0].upper()}{point[1:]}Plugin"


class ConfiguredPlugins:
    """The plugins of one profile. ``default``: the default ones with their weights, in order."""

    def __init__(self, profile: Profile, default: Mapping[str, int]) -> None:
        defaults = PluginSet(enabled=[PluginChoice(name=name, weight=weight or None) for name, weight in default.items()])
        self._multi_point = _merged(defaults, profile.plugins.multi_point)
        self._sets: dict[str, PluginSet] = {point: getattr(profile.plugins, field) for point, field in POINTS.items()}
        self.arguments: Mapping[str, Mapping[str, Any]] = {each.name: each.args for each in profile.plugin_config}
        chosen = [*self._multi_point.enabled, *(each for one in self._sets.values() for each in one.enabled)]
        self.names: Sequence[str] = list(dict.fromkeys(each.name for each in chosen))
        self._name = profile.scheduler_name

    def check_known(self, known: Mapping[str, object]) -> None:
        """Raises ConfigurationError for a plugin that does not exist."""
        for point in POINTS:
            for each in self._sets[point].enabled:
                if each.name not in known:
                    raise ConfigurationError(f'{_interface(point)} "{each.name}" does not exist')
        for each in self._multi_point.enabled:
            if each.name not in known:
                raise ConfigurationError(f'PreFilterPlugin "{each.name}" does not exist')

    def points(self, plugins: Mapping[str, Plugin]) -> Mapping[str, Sequence[str]]:
        """The names of those that are called at each extension point, in the order of the calls.

        Raises ConfigurationError.
        """
        points = {point: self._at(point, plugins) for point in POINTS}
        if len(points["queueSort"]) != 1:
            raise ConfigurationError(
                f'only one queue sort plugin required for profile with scheduler name "{self._name}", '
                f"but got {len(points['queueSort'])}")
        if not points["bind"]:
            raise ConfigurationError(f'at least one bind plugin is needed for profile with scheduler name "{self._name}"')
        if len(points["placementGenerate"]) > 1:
            raise ConfigurationError(
                f'at most one placement generate plugin is allowed for profile with scheduler name "{self._name}"')
        return points

    def _at(self, point: str, plugins: Mapping[str, Plugin]) -> list[str]:
        """Those that are named there and everywhere first, then those that are named everywhere,
        then the others that are named there.
        """
        method = METHODS[point]
        own: dict[str, None] = {}
        for each in self._sets[point].enabled:
            if not hasattr(plugins[each.name], method):
                raise ConfigurationError(f'plugin "{each.name}" does not extend {_interface(point)} plugin')
            if each.name in own:
                raise ConfigurationError(f'plugin "{each.name}" already registered as "{_interface(point)}"')
            own[each.name] = None
        disabled = dict.fromkeys(each.name for each in self._sets[point].disabled)
        if EVERYTHING in disabled:
            return list(own)
        everywhere: dict[str, None] = {}
        overridden: dict[str, None] = {}
        for each in self._multi_point.enabled:
            if not hasattr(plugins[each.name], method) or each.name in disabled:
                continue
            if each.name in own:
                overridden[each.name] = None
            elif each.name in everywhere:
                raise ConfigurationError(f'plugin "{each.name}" already registered as "{_interface(point)}"')
            else:
                everywhere[each.name] = None
        return [*(name for name in own if name in overridden), *everywhere, *(name for name in own if name not in overridden)]

    def weights(self, plugins: Mapping[str, Plugin]) -> Mapping[str, int]:
        """The weights of scores, by name: what is said at the point itself, else everywhere.

        Upstream refuses those whose sum could overflow, for which it takes millions of plugins.
        """
        weights: dict[str, int] = {}
        chosen = [*self._sets["score"].enabled, *self._sets["placementScore"].enabled, *self._multi_point.enabled]
        for each in chosen:
            if each.name not in weights:
                weights[each.name] = each.weight or 1
        return {name: weights.get(name, 1) for name in plugins}


def _merged(default: PluginSet, custom: PluginSet) -> PluginSet:
    """The default plugins without those that are disabled, each replaced where it is enabled anew,
    then the others that are enabled. Upstream: mergePluginSet.
    """
    disabled = dict.fromkeys(each.name for each in custom.disabled)
    again = {each.name: each for each in custom.enabled}
    enabled: list[PluginChoice] = []
    if EVERYTHING not in disabled:
        enabled = [again.get(each.name, each) for each in default.enabled if each.name not in disabled]
    placed = dict.fromkeys(each.name for each in enabled if each.name in again)
    left = [each for each in custom.enabled if each.name not in placed or again[each.name] is not each]
    return PluginSet(enabled=[*enabled, *left], disabled=custom.disabled)
