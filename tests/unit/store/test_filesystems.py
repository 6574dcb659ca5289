from pathlib import Path

import pytest

from jobsight.store.sqlitefile import filesystem_of, is_remote

MOUNTS = r"""22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:26 / /home rw shared:2 - nfs4 server:/home rw,vers=4.2
31 30 0:27 / /home/ada/local rw - xfs /dev/sdb rw
32 22 0:28 / /mnt/with\040blank rw - fuse.sshfs ada@host: rw
33 22 0:29 / /scratch rw - ext4 /dev/sdc rw
34 33 0:30 / /scratch rw - lustre 10.0.0.1@tcp:/scratch rw
nonsense
35 22
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    file = tmp_path / "mountinfo"
    file.write_text(MOUNTS)
    return file


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/var/lib/x.db", "ext4"),
        ("/home/ada/x.db", "nfs4"),
        ("/home", "nfs4"),
        ("/home/ada/local/not/there/yet.db", "xfs"),
        ("/home/ada/localhost", "nfs4"),
        ("/homes", "ext4"),
        ("/mnt/with blank/x", "fuse.sshfs"),
        ("/scratch/x", "lustre"),
    ],
)
def test_the_mount_a_path_lies_on(path: str, kind: str, mounts: Path) -> None:
    assert filesystem_of(Path(path), mounts) == kind


def test_links_are_followed(tmp_path: Path, mounts: Path) -> None:
    (tmp_path / "link").symlink_to("/home/ada")
    assert filesystem_of(tmp_path / "link" / "x.db", mounts) == "nfs4"


def test_what_is_mounted_when_the_path_is_followed_counts(
    mounts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def follow(path: Path) -> str:
        mounts.write_text(MOUNTS + "36 22 0:31 / /data/ada rw - nfs server:/ada rw\n")
        return str(path)

    mounts.write_text(MOUNTS + "35 22 0:31 / /data rw - autofs auto.data rw\n")
    monkeypatch.setattr("os.path.realpath", follow)
    assert filesystem_of(Path("/data/ada/jobs.db"), mounts) == "nfs"


def test_where_the_kernel_does_not_tell(tmp_path: Path) -> None:
    assert filesystem_of(tmp_path, tmp_path / "none") is None
    (tmp_path / "empty").touch()
    assert filesystem_of(tmp_path, tmp_path / "empty") is None


def test_this_machine_tells(tmp_path: Path) -> None:
    assert filesystem_of(tmp_path)


def test_kinds() -> None:
    remote = "nfs nfs4 cifs smb3 lustre gpfs beegfs ceph fuse.sshfs fuse.glusterfs 9p fuse NFS"
    assert all(is_remote(kind) for kind in remote.split())
    local = "ext4 xfs btrfs zfs tmpfs overlay fuseblk fuse.fuse-overlayfs f2fs"
    assert not any(is_remote(kind) for kind in local.split())
