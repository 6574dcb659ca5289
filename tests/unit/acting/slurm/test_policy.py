"""What Python writes as a policy, jobsight-submit.lua follows: in each Lua that Slurm may have.

In real slurmctld: tests/integration/test_setup_slurm.py.
"""

from __future__ import annotations

import pwd
import re
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.limits import examples, limit

from jobsight.acting.filling import filled
from jobsight.acting.sharing.vectors import RESOURCES
from jobsight.acting.slurm.policy import (
    MOST_BYTES,
    MOST_RULES,
    Rule,
    policy_file,
    render,
    withdraw,
    write,
)
from jobsight.clock import now_micros
from jobsight.errors import OutputError
from jobsight.settings import ActingSettings

VERSIONS = ("lua51", "lua52", "lua53", "lua54")
SITE = """
slurm = { SUCCESS = 0, ERROR = -1 }
function slurm.log_info(format, text) logged(format:format(text)) end
slurm.log_error = slurm.log_info
function slurm_job_submit(job, partitions, uid)
    if job.name == "refused" then return slurm.ERROR end
    if job.name == "faulty" then error("of the site") end
    return slurm.SUCCESS
end
function submitted(job, name)
    return slurm_job_submit(job, { main = { flag_default = 1 }, other = { flag_default = 0 } }, 0)
end
"""
USER = "nobody"
UID = pwd.getpwnam(USER).pw_uid
RULE = Rule({"membw": 30}, {"fs": 2}, "jobsight: uses 30 % of the memory's bandwidth")


class Controller:
    """Lua with the module of this folder's settings, as slurmctld has it."""

    def __init__(self, version: str, folder: Path, site: str = SITE) -> None:
        self.settings = ActingSettings(mode="enforce", folder=folder)
        self.log: list[str] = []
        self.now = time.time()
        self.lua = import_module(f"lupa.{version}").LuaRuntime(encoding="latin-1")
        self.lua.globals().logged = self.log.append
        self.lua.globals().os.time = lambda: int(self.now)
        module = folder / "jobsight-submit.lua"
        values = {
            "POLICY": policy_file(self.settings),
            "TOKENS": "diskbw:100,membw:100",
            "LICENCES": "fs:10,scratch-1.a:5",
            "PARTITIONS": "main",
        }
        text = files("jobsight.acting").joinpath("files", "slurm", module.name).read_text()
        module.write_text(filled(text, ".lua", values))
        self.lua.execute(site)
        assert self.lua.execute(f"return (pcall(dofile, {str(module)!r}))") is True

    def policy(
        self, rules: Mapping[tuple[str, str], Rule] | None = None, mode: Any = "enforce",
        age: float = 0,
    ) -> None:  # fmt: skip
        rules = {(USER, "run7"): RULE} if rules is None else rules
        text = render(rules, mode, int((self.now - age) * 1e6))
        policy_file(self.settings).write_text(text, "ascii")

    def submit(self, name: str | None = "run12", **job: Any) -> dict[str, Any]:
        """What the job has after its submission."""
        table = self.lua.table_from({"user_id": float(UID), **job})
        table.name = name
        assert self.lua.globals().submitted(table) == 0
        return {key: value for key, value in table.items() if key not in ("name", "user_id")}


ALL = {"gres": "membw:30", "licenses": "fs:2", "admin_comment": RULE.comment}


@pytest.fixture(params=VERSIONS)
def controller(request: pytest.FixtureRequest, tmp_path: Path) -> Controller:
    return Controller(request.param, tmp_path)


@pytest.mark.parametrize(("mode", "gets"), [
    ("observe", {}), ("advise", {"admin_comment": RULE.comment}), ("enforce", ALL),
])  # fmt: skip
def test_modes(controller: Controller, mode: str, gets: Mapping[str, Any]) -> None:
    controller.policy(mode=mode)
    assert controller.submit() == gets
    would = [line for line in controller.log if "would" in line]
    assert len(would) == (mode == "observe")
    assert all(f"user {UID}: gres=membw:30 licenses=fs:2 admin_comment=" in line for line in would)
    assert controller.submit("other") == {}
    assert controller.submit(None) == {}
    assert controller.submit(user_id=UID + 1.0) == {}


COMMENT = {"admin_comment": RULE.comment}


@pytest.mark.parametrize(("job", "gets"), [
    ({"tres_per_node": "gres/gpu:a100:2"}, {"gres": "gres/gpu:a100:2,membw:30"}),
    ({"tres_per_node": "gres:gpu:2", "licenses": "x:1"},
     {"gres": "gres:gpu:2,membw:30", "licenses": "x:1,fs:2"}),
    ({"tres_per_node": "gres/membw:5"}, {"gres": None}),
    ({"tres_per_node": "gres:gpu:1,gres:membw=0"}, {"gres": None}),
    ({"tres_per_task": "gres/membw:1"}, {"gres": None}),
    ({"licenses": "fs@server:1"}, {"licenses": "fs@server:1"}),
    ({"licenses": "x:1|y:1"}, {"licenses": "x:1|y:1"}),
    ({"admin_comment": "JS1:x"}, {"admin_comment": "JS1:x"}),
    ({"partition": "main"}, {}),
    ({"partition": "main,other"}, {"gres": None}),
    ({"comment": "mine; jobsight=none"}, {"gres": None, "licenses": None, "admin_comment": None}),
])  # fmt: skip
def test_what_the_job_names_itself_stays(
    controller: Controller, job: Mapping[str, Any], gets: Mapping[str, Any]
) -> None:
    controller.policy()
    expected = {**job, **ALL, **gets}
    assert controller.submit(**job) == {k: v for k, v in expected.items() if v is not None}


def test_only_what_the_cluster_has_is_added(controller: Controller) -> None:
    tokens = {"netbw": 10, "gpu": 1, "membw": 101, "diskbw": 100}
    licences = {"other": 1, "fs": 11, "scratch-1.a": 5}
    controller.policy({(USER, "run#"): Rule(tokens, licences)})
    assert controller.submit() == {"gres": "diskbw:100", "licenses": "scratch-1.a:5"}


def test_a_policy_expires_and_is_replaced(controller: Controller) -> None:
    assert controller.submit() == {}
    controller.policy()
    assert controller.submit() == {}  # looked at less than two seconds ago
    controller.now += 2
    assert controller.submit() == ALL
    controller.now += 86_390
    assert controller.submit() == ALL
    controller.now += 20
    assert controller.submit() == {}
    controller.policy({(USER, "run#"): Rule({"diskbw": 1})})
    controller.now += 2
    assert controller.submit() == {"gres": "diskbw:1"}
    assert withdraw(controller.settings)
    assert not withdraw(controller.settings)
    controller.now += 2
    assert controller.submit() == {}
    controller.policy(age=-400)  # of the future
    controller.now += 2
    assert controller.submit() == {}


def _head(count: int = 0, mode: str = "enforce") -> str:
    return f"jobsight-policy 1 {mode} {now_micros()} {count}\n"


DAMAGED: dict[str, Callable[[], str]] = {
    "empty": lambda: "",
    "code": lambda: "while true do end",
    "code after a head": lambda: _head(1) + "while true do end\n",
    "call": lambda: "os.exit(1)\n",
    "huge": lambda: _head(1) + f"{UID}\trun#\tmembw:30\t\t" + "x" * (3 << 20) + "\n",
    "many": lambda: _head(20_000) + "".join(f"{UID}\t{n}\tmembw:1\t\t\n" for n in range(20_000)),
    "no end of line": lambda: "jobsight-policy" * 100_000,
    "cut": lambda: _head(2) + f"{UID}\trun#\tmembw:30\t\t\n",
    "cut in a line": lambda: _head(1) + f"{UID}\trun#\tmembw:30\t\t",
    "more": lambda: _head() + f"{UID}\trun#\tmembw:30\t\t\n",
    "mode": lambda: _head(1, "off") + f"{UID}\trun#\tmembw:30\t\t\n",
    "column": lambda: _head(1) + f"{UID}\trun#\tmembw:30\t\t\t\n",
    "tokens": lambda: _head(1) + f"{UID}\trun#\tmembw:30;x\t\t\n",
    "control characters": lambda: _head(1) + f"{UID}\trun#\tmembw:30\t\t\x1b[2J\n",
    "zeros": lambda: "\0" * 10_000,
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_policy_is_not_followed(controller: Controller, case: str) -> None:
    policy_file(controller.settings).write_text(DAMAGED[case](), "ascii")
    begun = time.monotonic()
    assert controller.submit() == {}
    assert controller.submit() == {}
    assert time.monotonic() - begun < limit(1)
    assert controller.log[-1].startswith("jobsight: ")
    controller.policy()
    controller.now += 2
    assert controller.submit() == ALL


@pytest.mark.parametrize("target", ["/dev/zero", "/", "/nowhere"])
def test_what_is_no_file_is_not_followed(controller: Controller, target: str) -> None:
    policy_file(controller.settings).symlink_to(target)
    assert controller.submit() == {}


def test_an_error_leaves_the_job_as_it_came(controller: Controller) -> None:
    controller.policy()
    job = controller.lua.execute("""
        local fields = { tres_per_node = "gres/gpu:1" }
        return setmetatable({}, {
            __index = function(_, name) return fields[name] end,
            __newindex = function(_, name, value)
                if name == "admin_comment" then error("no " .. name) end
                fields[name == "gres" and "tres_per_node" or name] = value ~= "" and value or nil
            end,
        })
    """)
    job.name, job.user_id = "run1", float(UID)
    assert controller.lua.globals().submitted(job) == 0
    assert (job.tres_per_node, job.licenses) == ("gres/gpu:1", None)
    assert "stays as it came" in controller.log[-1]
    job.user_id = "nonsense"
    assert controller.lua.globals().submitted(job) == 0


def test_what_the_site_says_counts(controller: Controller) -> None:
    controller.policy({(USER, name): RULE for name in ("refused", "faulty")})
    submitted = controller.lua.globals().submitted
    for name in ("refused", "faulty"):
        job = controller.lua.table_from({"user_id": float(UID), "name": name})
        if name == "refused":
            assert submitted(job) == -1
        else:
            with pytest.raises(Exception, match="of the site"):
                submitted(job)
        assert set(job) == {"user_id", "name"}


def test_loaded_too_early_it_does_nothing(tmp_path: Path) -> None:
    early = SITE.replace("slurm_job_submit(job", "_submit(job", 1)
    controller = Controller("lua51", tmp_path, early)
    assert "load it after" in controller.log[0]
    assert controller.lua.globals().slurm_job_submit is None


NAMES = st.text(st.characters(codec="utf-8") | st.sampled_from("%#\t\n\0 09"), max_size=20)
RULES = st.builds(
    Rule,
    st.dictionaries(st.sampled_from(["membw", "diskbw"]), st.integers(1, 100), max_size=2),
    st.dictionaries(st.sampled_from(["fs", "scratch-1.a"]), st.integers(1, 5), max_size=2),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=200),
)


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rules=st.dictionaries(st.tuples(st.just(USER), NAMES), RULES, max_size=6))
def test_lua_reads_what_python_writes(
    controller: Controller, rules: dict[tuple[str, str], Rule]
) -> None:
    controller.policy(rules)
    controller.now += 2
    seen = set()
    for (_, name), rule in rules.items():
        expected = {
            "gres": ",".join(f"{key}:{count}" for key, count in rule.tokens.items()),
            "licenses": ",".join(f"{key}:{count}" for key, count in rule.licences.items()),
            "admin_comment": rule.comment,
        }
        pattern = re.sub("[0-9]+", "#", name)
        if pattern not in seen:  # of names that differ in numbers, the first counts
            shown = re.sub("[0-9]+", "1234", name).encode().decode("latin-1")
            assert controller.submit(shown) == {k: v for k, v in expected.items() if v}
        seen.add(pattern)


def test_the_largest_policy_is_read_in_time(controller: Controller) -> None:
    names = [f"n{letters}" for letters in map(_letters, range(MOST_RULES + 5))]
    controller.policy({(USER, name): Rule({"membw": 1}) for name in names})
    begun = time.monotonic()
    assert controller.submit(names[MOST_RULES - 1]) == {"gres": "membw:1"}
    assert time.monotonic() - begun < limit(1)
    assert controller.submit(names[MOST_RULES]) == {}
    long = render({(USER, _letters(n) * 100): Rule() for n in range(MOST_RULES)}, "observe", 1)
    assert MOST_BYTES - 1000 < len(long) <= MOST_BYTES


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:05}")


def test_users_that_are_unknown_are_left_out() -> None:
    assert render({("no such user", "a"): RULE, ("a\0b", "a"): RULE}, "observe", 1).endswith(" 0\n")


@pytest.mark.parametrize("rule", [
    Rule({"membw": 0}), Rule({"mem,bw": 1}), Rule(licences={"": 1}), Rule(comment="a\nb"),
    Rule(comment="x" * 201), Rule(comment="é"),
])  # fmt: skip
def test_what_slurm_would_not_take_is_refused(rule: Rule) -> None:
    with pytest.raises(ValueError, match="not a"):
        render({(USER, "a"): rule}, "observe", 1)


def test_the_file_is_written_whole_and_withdrawn_when_off(tmp_path: Path) -> None:
    acting = ActingSettings(mode="observe", folder=tmp_path)
    write(acting, {(USER, "a"): RULE})
    assert policy_file(acting).read_text().startswith("jobsight-policy 1 observe 1")
    assert policy_file(acting).stat().st_mode & 0o777 == 0o644
    write(acting.model_copy(update={"mode": "off"}), {(USER, "a"): RULE})
    assert list(tmp_path.iterdir()) == []
    policy_file(acting).mkdir()
    with pytest.raises(OutputError, match="cannot"):
        withdraw(acting)


def test_tokens_are_names_that_slurm_takes() -> None:
    assert render({(USER, "a"): Rule(dict.fromkeys(RESOURCES, 1))}, "enforce", 1).count(":1") == 4
