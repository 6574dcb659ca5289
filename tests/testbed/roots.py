"""Debian roots with HTCondor and Slurm, built once by debootstrap and cached.

A root is named by what is in it and by a digest of its recipe, built beside its place under a lock,
and renamed when whole: an interrupted build leaves nothing that looks finished. Mirror, proxy and
other transport settings are the host's own, read from apt, and are not kept in the root.
"""

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.errors import BedError, Unavailable
from tests.testbed.namespace import keep

__all__ = ["RECIPES", "Recipe", "cache_folder", "mirror", "root"]

_SCRIPT = Path(__file__).with_name("build_root.sh")
_SLURM = ("slurm-wlm", "slurm-client", "slurmdbd", "mariadb-server", "munge", "procps", "curl")


@dataclass(frozen=True)
class Recipe:
    """What is in a root.

    Attributes:
        suite: of Debian.
        packages: of this suite.
        later: ``SUITE:PACKAGE`` that this suite lacks, and that is done without where the mirror
            has none that fits; then ``/etc/testbed-lacks`` says why.
    """

    suite: str
    packages: tuple[str, ...]
    later: str = ""

    @property
    def digest(self) -> str:
        """12 hex digits that change with the recipe and the way of building it."""
        parts = [self.suite, *self.packages, self.later, platform.machine(), _SCRIPT.read_text()]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


RECIPES = {
    "trixie": Recipe(
        "trixie",
        (
            *_SLURM, "slurm-wlm-mysql-plugin", "slurm-wlm-kafka-plugin",
            "condor", "python3-minimal", "redis-server", "valkey-server",
            "fuse3", "squashfs-tools", "squashfuse", "strace",
        ),
        later="sid:apptainer",
    ),
    "bookworm": Recipe("bookworm", (*_SLURM, "libsqlite3-0")),
}  # fmt: skip


def cache_folder() -> Path:
    """Where roots are kept: `JOBSIGHT_TESTBED_CACHE`, else /var/cache/jobsight-testbed."""
    return Path(os.environ.get("JOBSIGHT_TESTBED_CACHE") or "/var/cache/jobsight-testbed")


def root(name: str) -> Path:
    """The cached root of this name; built first where it is missing (about a minute).

    Raises:
        Unavailable: this machine cannot build or enter a root.
        BedError: the build itself failed; names its log.
    """
    recipe = RECIPES[name]
    _check_machine()
    cache = cache_folder()
    place = cache / f"{name}-{recipe.digest}"
    if place.is_dir():
        return place
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"cannot make {cache}: {error.strerror}; name another folder in "
                          "JOBSIGHT_TESTBED_CACHE") from error  # fmt: skip
    with _lock(cache / f"{place.name}.lock"):
        if not place.is_dir():
            _build(recipe, place)
    return place


def _check_machine() -> None:
    """Raise `Unavailable` with the first reason why no root can be had here."""
    if os.environ.get("JOBSIGHT_TESTBED") == "0":
        raise Unavailable("switched off by JOBSIGHT_TESTBED=0")
    if not sys.platform.startswith("linux"):
        raise Unavailable(f"needs Linux, this is {sys.platform}")
    if os.geteuid() != 0:
        raise Unavailable("needs root: mounts and daemons of other users; run the tests as root")
    if not shutil.which("unshare") or not shutil.which("nsenter"):
        raise Unavailable("needs unshare and nsenter (util-linux)")
    refused = subprocess.run(
        ["unshare", "--mount", "--pid", "--uts", "--fork", "true"], capture_output=True, check=False
    )
    if refused.returncode != 0:
        said = refused.stderr.decode(errors="replace").strip()
        raise Unavailable(f"may not make namespaces here: {said}; a container needs --privileged")


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a file lock; whoever waits is told so."""
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _tell(f"waiting for another process that builds {path.stem}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _tell(line: str) -> None:
    sys.stderr.write(f"testbed: {line}\n")
    sys.stderr.flush()


def _build(recipe: Recipe, place: Path) -> None:
    """Build into a neighbour of `place`, then rename; the lock is held."""
    address = mirror()
    _need_debootstrap()
    unfinished = place.with_name(f"{place.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    log = place.with_name(f"{place.name}.log")
    begun = time.monotonic()
    _tell(f"building a Debian {recipe.suite} root in {place} (once, a minute or two); log: {log}")
    try:
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as settings:
            settings.write(_apt_settings())
            settings.flush()
            environment = {
                "SUITE": recipe.suite, "ROOT": str(unfinished), "MIRROR": address,
                "PACKAGES": " ".join(recipe.packages), "LATER": recipe.later,
                "APT_SETTINGS": settings.name, "LOG": str(log),
            }  # fmt: skip
            log.unlink(missing_ok=True)
            log.touch(mode=0o600)  # it names the mirror
            status = _run_script(environment)
        if status != 0:
            raise BedError(f"building the {recipe.suite} root failed with {status}; read {log}")
        unfinished.chmod(0o755)
        unfinished.rename(place)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    _tell(f"{recipe.suite}: built in {time.monotonic() - begun:.0f} s")


def _run_script(environment: dict[str, str]) -> int:
    """Run the build in namespaces that end with this process; its progress goes to stderr."""
    environment = {**os.environ, **_proxies(), **environment}
    process = keep(["sh", str(_SCRIPT)], errors=sys.__stderr__, environment=environment)
    try:
        return process.wait()
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()


def _need_debootstrap() -> None:
    """Have debootstrap, by apt if need be."""
    if shutil.which("debootstrap"):
        return
    _tell("installing debootstrap")
    install = ["apt-get", "install", "-y", "--no-install-recommends", "debootstrap"]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (install, ["apt-get", "update"], install):
        subprocess.run(command, env=environment, capture_output=True, check=False)
        if shutil.which("debootstrap"):
            return
    raise Unavailable("debootstrap is missing and apt-get cannot install it")


def mirror() -> str:
    """The address from which this host gets Debian itself.

    Raises:
        Unavailable: the host is no Debian, or apt knows no mirror that debootstrap can read.
    """
    try:
        release = dict(
            re.findall(r'^(\w+)="?([^"\n]*)"?$', Path("/etc/os-release").read_text(), re.M)
        )
    except OSError:
        release = {}
    if release.get("ID") != "debian" or not shutil.which("apt-get"):
        raise Unavailable(
            f"needs Debian's apt, this is {release.get('PRETTY_NAME', 'another system')}"
        )
    said = subprocess.run(
        ["apt-get", "indextargets", "--no-release-info",
         "--format", "$(RELEASE) $(COMPONENT) $(SITE)"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    targets = [line.split(" ", 2) for line in said.stdout.splitlines() if line.count(" ") >= 2]
    for suite, component, site in targets:
        plain = suite in (release.get("VERSION_CODENAME"), "stable", "testing", "sid", "unstable")
        if plain and component == "main" and site.startswith(("http:", "https:", "file:")):
            return site
    raise Unavailable(
        "apt names no Debian mirror by http, https or file; look in /etc/apt/sources.list.d"
    )


def _apt_settings() -> str:
    """The host's transport settings (proxies, certificates, dates), in apt's own language."""
    said = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True)
    wanted = re.compile(
        r"Acquire::(http|https|Check|Allow|Max|ForceIPv|Retries)[\w:.-]* \"[^\"]+\";", re.I
    )
    lines = [line for line in said.stdout.splitlines() if wanted.fullmatch(line)]
    return "\n".join([*lines, 'Acquire::Retries "5";', 'Acquire::Languages "none";', ""])


def _proxies() -> dict[str, str]:
    """Proxies for debootstrap's wget: the environment's, else apt's."""
    found = {}
    for scheme in ("http", "https"):
        said = subprocess.run(
            ["apt-config", "shell", "P", f"Acquire::{scheme}::Proxy"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        match = re.fullmatch(r"P='(.+)'\n?", said.stdout)
        value = os.environ.get(f"{scheme}_proxy") or (match and match[1])
        if value and value != "DIRECT":
            found[f"{scheme}_proxy"] = value
    return found
