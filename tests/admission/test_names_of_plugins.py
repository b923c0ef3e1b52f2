"""The names of admission plugins, as the options of the server have them."""

from fakekube.admission import chain

NOT_MODELLED = ["ImagePolicyWebhook"]


def test_a_plugin_has_the_name_that_options_give_it() -> None:
    """given the plugins by their names, when each is made, then it has that name"""
    made = {name: chain._made(where).name for name, where in chain.PLUGINS.items() if where}
    assert made == {name: name for name in made}
    assert [name for name, where in chain.PLUGINS.items() if not where] == NOT_MODELLED
