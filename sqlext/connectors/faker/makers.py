"""Make values of an expression: numbers and patterns are drawn, names come from pools of the library Faker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from sqlext.connectors.faker.draws import DRAWN, Draw, Maker, Value
from sqlext.connectors.faker.expressions import Expression, ProviderCall, folded
from sqlext.connectors.faker.names import MEMBERS, PROVIDERS, THEMES, WORDS
from sqlext.errors import did_you_mean
from sqlext.extras import package

#: Different values of a provider: to make one takes Faker a third of a millisecond, to choose one a microsecond.
POOL = 500
#: The same pools in every worker.
_SEED = 4711


def maker_of(expression: Expression) -> Maker:
    """Return what makes values of an expression: of one call what it gives, of more parts their text.

    Raises:
        ValueError: for a provider that is not known, or arguments that it does not take.
    """
    parts = [_called(part) if isinstance(part, ProviderCall) else part for part in expression]
    if len(parts) == 1 and not isinstance(parts[0], str):
        return parts[0]
    return lambda draw: "".join(part if isinstance(part, str) else shown(part(draw)) for part in parts)


def shown(value: Value) -> str:
    """Return a value as Java shows it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _called(call: ProviderCall) -> Maker:
    build = _DRAWN.get(call.key)
    if build is not None:
        try:
            return build(call.arguments)
        except (ValueError, ArithmeticError) as error:
            raise ValueError(f"#{{{call.name}}}: {error}") from error
    words = _WORDS.get(call.key)
    if words is not None:
        return _chosen(words)
    method = _METHODS.get(call.key)
    if method is None:
        raise ValueError(f"there is no provider #{{{call.name}}}")
    return _pooled(method)


def hint_for(expression: Expression) -> str:
    """Return names that are near to the first one that is not known, or where providers are described."""
    unknown = [p.name for p in expression if isinstance(p, ProviderCall) and p.key not in _KNOWN]
    near = did_you_mean(unknown[0], _KNOWN.values()) if unknown else None
    return near or "docs/coming-from-flink-sql.md has the providers"


def _chosen(words: Sequence[Sequence[str]]) -> Maker:
    return lambda draw: " ".join(draw.random.choice(each) for each in words)


def _pooled(method: str) -> Maker:
    def make(draw: Draw) -> Value:
        return draw.random.choice(_pool(method))

    return make


@lru_cache(maxsize=256)
def _pool(method: str) -> tuple[str, ...]:
    faker = package("faker", "faker", "connector 'faker'").Faker("en_US")
    faker.seed_instance(_SEED)
    return tuple(str(getattr(faker, method)()).replace("\n", ", ") for _ in range(POOL))


_DRAWN = {folded(name): build for name, build in DRAWN.items()}
_WORDS = {folded(name): words for name, words in WORDS.items()}
_THEMED = {f"{theme}.{member}": method for theme in THEMES for member, method in MEMBERS.items()}
_METHODS = {folded(name): method for name, method in (*_THEMED.items(), *PROVIDERS.items())}
#: Name as it is looked up -> as Datafaker writes it.
_KNOWN: Mapping[str, str] = {folded(name): name for name in (*_THEMED, *PROVIDERS, *WORDS, *DRAWN)}
