import pytest

from jobsight.reports.page import Markup, document, element, join, section, table


def test_children_and_attributes_are_escaped() -> None:
    assert element("p", "a < b & \"c\" 'd'") == "<p>a &lt; b &amp; &quot;c&quot; &#x27;d&#x27;</p>"
    assert element("a", "x", href='"><script>') == '<a href="&quot;&gt;&lt;script&gt;">x</a>'
    assert element("b", element("i", "<")) == "<b><i>&lt;</i></b>"


def test_nothing_is_nothing_and_numbers_are_text() -> None:
    assert element("p", None, 7, class_=None) == "<p>7</p>"
    assert element("br") == "<br>"
    assert element("rect", stroke_width=2) == '<rect stroke-width="2"></rect>'


def test_blanks_between_children_stay() -> None:
    assert element("p", "a ", element("b", "c"), " d") == "<p>a <b>c</b> d</p>"
    assert join(["a", Markup("<br>"), "<"], ", ") == "a, <br>, &lt;"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\nb\t c", "a b c"),
        ("\x00\x1b[31mred\x1b[0m", "[31mred [0m"),
        ("\u202egnp.exe", "gnp.exe"),
        ("\ud800x", "x"),
        ("你好", "你好"),
    ],
)
def test_plain_text_is_one_printable_line(text: str, clean: str) -> None:
    assert element("p", title=text) == f'<p title="{clean}"></p>'
    assert element("p", text).isprintable()


def test_a_table_tells_text_from_numbers_and_marks_rows() -> None:
    shown = table(["a", "b"], [["x", "1"], ["<", "2"]], caption="c", marked=[1])
    assert "<caption>c</caption>" in shown
    assert '<tr><td>x</td><td class="number">1</td></tr>' in shown
    assert '<tr class="marked"><td>&lt;</td><td class="number">2</td></tr>' in shown
    with pytest.raises(ValueError, match="zip"):
        table(["a", "b"], [["x"]], caption="c")


def test_a_section_is_named_for_links() -> None:
    assert section("What it is, <now>", "x").startswith('<section id="what-it-is-now"><h2>')


def test_a_document_stands_alone() -> None:
    page = document("<t>", [element("main", "x")])
    assert page.startswith('<!doctype html>\n<html lang="en"><head><meta charset="utf-8">')
    assert "<title>&lt;t&gt;</title>" in page
    assert "default-src &#x27;none&#x27;" in page
