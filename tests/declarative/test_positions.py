"""Lines of keys: the keys are those that tomllib finds, each where its own text stands, however it is written."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nonsmooth.declarative.faults import Place, Source, positions

TEXT = '''# [no]
top = 1  # x = 2
"quoted key"."a.b" = "]"
'single' = """
[not.a.table]
x = 1 \\"""
""" # end
dotted.one = [ 1, # ] a comment
  "two, ]", [3,
    4], { five = 6, "six.1" = [7] },
]
dotted . two = 1979-05-27 07:32:00Z

[ table ]
a = {b = {c = 'x # y'}, d.e = 2}
empty = []
none = {}
[table.below."deep down"]
k = \'\'\'
k = 1\'\'\'\'\'
[[array]]
x = 1
[array.inner]
y = 2
[[array.more]]
z = 3
[[array.more]]
z = 4
[[array]]
x = 5
[late.child]
p = 1
[late]
q = inf
'''
LINES = {
    ("top",): 2, ("quoted key",): 3, ("quoted key", "a.b"): 3, ("single",): 4, ("dotted",): 8, ("dotted", "one"): 8,
    ("dotted", "one", 0): 8, ("dotted", "one", 1): 9, ("dotted", "one", 2): 9, ("dotted", "one", 2, 1): 10,
    ("dotted", "one", 3): 10, ("dotted", "one", 3, "five"): 10, ("dotted", "one", 3, "six.1", 0): 10,
    ("dotted", "two"): 12, ("table",): 14, ("table", "a", "b", "c"): 15, ("table", "a", "d", "e"): 15,
    ("table", "empty"): 16, ("table", "below", "deep down"): 18, ("table", "below", "deep down", "k"): 19,
    ("array", 0): 21, ("array", 0, "x"): 22, ("array", 0, "inner", "y"): 24, ("array", 0, "more", 0, "z"): 26,
    ("array", 0, "more", 1, "z"): 28, ("array", 1): 29, ("array", 1, "x"): 30, ("late", "child", "p"): 32,
    ("late",): 33, ("late", "q"): 34,
}  # fmt: skip


def paths(data, path=()):
    """Every path of what tomllib reads."""
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from paths(value, (*path, key))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_a_text_with_every_form(end):
    text = TEXT.replace("\n", end)
    found = positions(text)
    assert set(found) == set(paths(tomllib.loads(text)))
    assert {path: found[path].line for path in LINES} == LINES
    assert found["dotted", "one", 1] == Place(9, 3)


def test_what_is_not_there_has_the_line_of_its_table():
    found = positions(TEXT)
    source = Source("text", {}, found)
    for path in (("table", "a", "nothing", "at all"), ("table", "missing"), ("nothing",)):
        source.fault(path, "is wrong")
    lines = [line for line, *_ in source.faults]
    assert lines == [15, 14, 1] and source.faults[-1][1] == 1, "of the innermost table that is in the text"


KEYS = st.one_of(
    st.sampled_from("a b c-d 1 true".split()),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=4),
)
SCALARS = st.one_of(
    st.integers(-9, 9), st.booleans(), st.floats(allow_nan=False),
    st.text(st.sampled_from("ab[]{}#=,.\"'\\ \n"), max_size=8),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=12,
)
TABLES = st.dictionaries(KEYS, VALUES, max_size=5)


def key(text):
    return (
        text
        if text and all(c.isascii() and (c.isalnum() or c in "-_") for c in text)
        else json.dumps(text, ensure_ascii=False)
    )


def value(data, draw):
    """A value in one of the forms that TOML has for it, with blanks, comments and line ends where they may be."""
    blank = lambda: draw(st.sampled_from(["", " ", "\t "]))  # noqa: E731
    space = lambda: draw(st.sampled_from(["", " ", "\n", " # ]},=\n  "]))  # noqa: E731
    if isinstance(data, bool):
        return str(data).lower()
    if isinstance(data, str):
        forms = [json.dumps(data), '"""' + json.dumps(data)[1:-1].replace("\\n", "\n") + '"""']
        if "'" not in data and "\n" not in data:
            forms.append(f"'{data}'")
        return draw(st.sampled_from(forms))
    if isinstance(data, list):
        comma = draw(st.sampled_from(["", ","])) if data else ""
        return f"[{space()}{','.join(space() + value(one, draw) + space() for one in data)}{comma}{space()}]"
    if isinstance(data, dict):
        pairs = (f"{blank()}{key(k)}{blank()}={blank()}{value(v, draw)}{blank()}" for k, v in data.items())
        return f"{{{','.join(pairs)}}}"
    return repr(data)


def written(data, draw, path=()):
    """A table: pairs first, then tables below it with headers, as an array of tables or dotted where that can be."""
    pairs, below = [], []
    for k, v in data.items():
        tables = isinstance(v, list) and v and all(isinstance(one, dict) for one in v)
        if isinstance(v, dict) and draw(st.booleans()):
            below.append(f"[{' . '.join(map(key, (*path, k)))}]\n{written(v, draw, (*path, k))}")
        elif tables and draw(st.booleans()):
            head = f"[[{'.'.join(map(key, (*path, k)))}]] # [x]\n"
            below.extend(head + written(one, draw, (*path, k)) for one in v)
        elif isinstance(v, dict) and v and draw(st.booleans()):
            pairs.extend(f"{key(k)} . {key(k2)} = {value(v2, draw)}\n" for k2, v2 in v.items())
        else:
            pairs.append(f"{key(k)} = {value(v, draw)}\n{draw(st.sampled_from(['', '# c = 1', '   ']))}\n")
    return "".join([*pairs, *below])


@given(data=TABLES, draw=st.data())
@settings(max_examples=300, deadline=None)
def test_any_text(data, draw):
    text = written(data, draw.draw)
    read = tomllib.loads(text)
    found = positions(text)
    assert set(found) == set(paths(read))
    lines = text.split("\n")
    for path, place in found.items():
        rest = lines[place.line - 1][place.column - 1 :]
        if isinstance(path[-1], str):
            assert key(path[-1]) in rest or path[-1] in rest
        else:
            assert rest and rest[0] not in " \t#,"
