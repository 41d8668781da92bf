"""Extensions that do not load."""

from kesoku.errors.root import KesokuError


class PluginError(KesokuError):
    """An installed extension does not load."""


class PluginUnknown(PluginError, LookupError):
    """No installed distribution offers this name."""

    def __init__(self, *, group: str, name: str, known: tuple[str, ...]) -> None:
        self.group, self.name, self.known = group, name, known
        super().__init__(f"nothing installed offers {name!r} in {group}; installed are {', '.join(known) or '(none)'}")


class PluginBroken(PluginError, ImportError):
    """A distribution offers a name, but what stands behind it fails to import or is the wrong thing."""

    def __init__(self, *, group: str, name: str, target: str, distribution: str, reason: str) -> None:
        self.group, self.target, self.distribution, self.reason = group, target, distribution, reason
        super().__init__(
            f"{name!r} in {group} ({target}, from {distribution}) does not load: {reason}; "
            f"repair or uninstall {distribution}",
            name=name,
        )


class PluginConflict(PluginError, ValueError):
    """Several distributions offer the same name; none of them is taken, so that no one is shadowed in silence."""

    def __init__(self, *, group: str, name: str, distributions: tuple[str, ...]) -> None:
        self.group, self.name, self.distributions = group, name, distributions
        super().__init__(f"{name!r} in {group} is offered by {' and '.join(distributions)}; uninstall all but one")


class ExtraMissing(PluginError, ImportError):
    """An adapter was asked for whose library is not installed."""

    def __init__(self, *, adapter: str, extra: str, module: str) -> None:
        self.adapter, self.extra, self.module = adapter, extra, module
        super().__init__(
            f"the adapter {adapter} needs {module}, which is not installed; pip install 'kesoku[{extra}]'", name=module
        )
