"""What is written for HTCondor is read back as what was meant, by its documented rules.

tests/integration/test_sweeps.py asks HTCondor itself.
"""

from hypothesis import given
from hypothesis import strategies as st

from jobsight.tuning.dagfiles import environment_list, macro_text, word_list

TEXT = st.text(
    st.one_of(
        st.sampled_from("$()'\" \\,%#=JOB"),
        st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"]),
    ),
    max_size=30,
)


def expanded(text: str) -> str:
    """As submit expands macros, and then the schedd when a machine is matched."""
    out, at = [], 0
    while at < len(text):
        for macro, plain in (("$$(DOLLARDOLLAR)", "$$"), ("$(DOLLAR)", "$")):
            if text.startswith(macro, at):
                out.append(plain)
                at += len(macro)
                break
        else:
            assert text[at] != "$", f"a bare $ at {at} of {text!r}"
            out.append(text[at])
            at += 1
    return "".join(out)


def words(text: str) -> list[str]:
    """Words between the outer double quotes: blanks part them but within single quotes."""
    out: list[str] = []
    word: str | None = None
    inside, at = False, 0
    text = text.replace('""', "\0")
    assert '"' not in text
    while at < len(text):
        letter = text[at]
        if letter == "'" and inside and text[at + 1 : at + 2] == "'":
            word, at = (word or "") + "'", at + 1
        elif letter == "'":
            inside, word = not inside, word or ""
        elif letter == " " and not inside:
            out += [] if word is None else [word]
            word = None
        else:
            word = (word or "") + ('"' if letter == "\0" else letter)
        at += 1
    assert not inside
    return out + ([] if word is None else [word])


@given(st.lists(TEXT.filter(lambda text: "\0" not in text), max_size=6))
def test_words_come_back(given_words: list[str]) -> None:
    assert words(expanded(word_list(given_words))) == given_words


@given(st.dictionaries(st.from_regex(r"[A-Z_]{1,5}", fullmatch=True), TEXT, max_size=4))
def test_variables_come_back(variables: dict[str, str]) -> None:
    found = dict(word.split("=", 1) for word in words(expanded(environment_list(variables))))
    assert found == variables


@given(TEXT)
def test_a_path_comes_back(path: str) -> None:
    assert expanded(macro_text(path)) == path
