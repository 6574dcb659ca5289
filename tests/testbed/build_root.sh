#!/bin/sh
# Builds one Debian root for the test bed. Run by roots.py in a mount and process namespace of its
# own, so that an interruption leaves no mount and no process behind.
#
# From the environment: SUITE, ROOT (a folder that does not exist), MIRROR, PACKAGES (blank between),
# LATER (empty, or SUITE:PACKAGE that this suite lacks and a later one has), APT_SETTINGS (a file in
# apt's configuration language, taken from the host for the build alone), LOG.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
exec 3>&2 >>"$LOG" 2>&1
say() { echo "testbed: $*" >&3; }

attempt=1
until say "$SUITE: the base system"; debootstrap --variant=minbase "$SUITE" "$ROOT" "$MIRROR"; do
    [ "$attempt" -lt 3 ] || exit 1
    attempt=$((attempt + 1))
    say "$SUITE: the mirror failed; attempt $attempt of 3"
    rm -rf "$ROOT"
    sleep 5
done

printf '#!/bin/sh\nexit 101\n' >"$ROOT/usr/sbin/policy-rc.d"
chmod 755 "$ROOT/usr/sbin/policy-rc.d"
cat >"$ROOT/etc/dpkg/dpkg.cfg.d/testbed" <<'CFG'
force-unsafe-io
path-exclude=/usr/share/doc/*
path-exclude=/usr/share/man/*
path-exclude=/usr/share/locale/*
CFG
cp "$APT_SETTINGS" "$ROOT/etc/apt/apt.conf.d/90host"
mount --bind "$ROOT" "$ROOT"
mount -t proc proc "$ROOT/proc"
mount --bind /dev "$ROOT/dev"
if [ -d /etc/apt/auth.conf.d ]; then mount --bind /etc/apt/auth.conf.d "$ROOT/etc/apt/auth.conf.d"; fi
say "$SUITE: $PACKAGES"
chroot "$ROOT" apt-get update
# shellcheck disable=SC2086
chroot "$ROOT" apt-get install -y --no-install-recommends $PACKAGES

# That package alone, never a C library or another thing that it needs and this suite has too old.
# Where it is not to be had, the root does without, and says why in /etc/testbed-lacks.
add_later() {
    echo "deb $MIRROR ${LATER%%:*} main" >>"$ROOT/etc/apt/sources.list"
    printf 'Package: *\nPin: release n=%s\nPin-Priority: -1\n\n' "${LATER%%:*}" >"$pins"
    printf 'Package: %s\nPin: release n=%s\nPin-Priority: 500\n' "${LATER#*:}" "${LATER%%:*}" >>"$pins"
    chroot "$ROOT" apt-get update &&
        chroot "$ROOT" apt-get install -y --no-install-recommends "${LATER#*:}"
}
pins="$ROOT/etc/apt/preferences.d/later"
said="$ROOT/etc/testbed-lacks"
if [ -n "$LATER" ]; then
    say "$SUITE: ${LATER#*:} of ${LATER%%:*}"
    if add_later >"$said" 2>&1; then
        cat "$said"
        rm "$said"
    else
        cat "$said"
        grep '^E:' "$said" | tail -n 1 >"$said.new" || echo "it cannot be installed" >"$said.new"
        mv "$said.new" "$said"
        say "$SUITE: no ${LATER#*:}: $(cat "$said")"
    fi
    rm -f "$pins"
fi
# HTCondor tries images of both kinds before it takes any of that kind; Debian leaves this one out.
trial="$ROOT/usr/libexec/condor/singularity_test_sandbox"
if [ -d "$trial" ] && [ ! -e "${trial%/*}/exit_37.sif" ]; then
    chroot "$ROOT" mksquashfs "${trial#"$ROOT"}" /usr/libexec/condor/exit_37.sif
fi
chroot "$ROOT" apt-get clean

say "$SUITE: users and an empty database"
chroot "$ROOT" useradd --no-create-home --home-dir /home/alice --uid 2001 --shell /bin/sh alice
chroot "$ROOT" useradd --no-create-home --home-dir /home/bob --uid 2002 --shell /bin/sh bob
chroot "$ROOT" mariadb-install-db --no-defaults --force --user=mysql --datadir=/var/lib/testbed-mysql \
    --auth-root-authentication-method=socket --skip-test-db --innodb-log-file-size=8M
: >>"$ROOT/etc/hosts"
rm -f "$ROOT/etc/localtime"
: >"$ROOT/etc/localtime" # the host's is shown here
mkdir -p "$ROOT/etc/slurm" "$ROOT/etc/condor" "$ROOT/etc/munge" "$ROOT/etc/apptainer"
: >>"$ROOT/etc/apptainer/apptainer.conf" # each start has its own
rm -rf "$ROOT/etc/apt/apt.conf.d/90host" "$ROOT/etc/apt/sources.list" "$ROOT/var/lib/mysql" \
    "$ROOT/var/lib/apt/lists" "$ROOT/etc/munge/munge.key"
say "$SUITE: ready"
