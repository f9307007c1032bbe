#!/bin/sh
# Sandboxes of bubblewrap (https://github.com/containers/bubblewrap) for the backend `command` of perfq trajectory:
# no network, the system read-only, no capabilities, and a folder of the session's own that it sees as /mnt, in which
# the recording's directory is made. Needs bwrap, nsenter and setpriv (util-linux), and root. perfq starts it in the
# session's folder.
#
#   bubblewrap.sh launch | exec WORKDIR SCRIPT | pause | resume | stop
# shellcheck disable=SC2016 # what stands in single quotes is for the shell inside
set -eu
pid() { cat .sandbox/pid; }
inside() { nsenter --all --target "$(pid)" -- setpriv --no-new-privs --bounding-set -all --inh-caps -all -- "$@"; }
case "$1" in
  launch)
    mkdir -p .sandbox home
    # bwrap says which process is the first one inside: it reaps the others, and ends them with itself.
    mkfifo .sandbox/info .sandbox/ready
    exec 4<>.sandbox/ready
    setsid bwrap --unshare-all --hostname sandbox --info-fd 3 \
      --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --tmpfs /root --tmpfs /mnt --bind "$PWD/home" /mnt \
      --chdir /mnt -- sh -c 'echo ready >&4 && exec sleep infinity 4>&-' \
      3>.sandbox/info >/dev/null 2>&1 &
    sed -n 's/.*"child-pid": *\([0-9]*\).*/\1/p' .sandbox/info >.sandbox/pid
    read -r _ <&4
    printf '{"pid": %s}\n' "$(pid)"
    ;;
  exec) inside sh -c 'mkdir -p "/mnt$1" && cd "/mnt$1" && exec bash -c "$2"' sh "$2" "$3" ;;
  pause) nsenter --all --target "$(pid)" -- sh -c 'kill -STOP -1' ;;
  resume) nsenter --all --target "$(pid)" -- sh -c 'kill -CONT -1' ;;
  stop) [ ! -s .sandbox/pid ] || kill -KILL "$(pid)" ;;
  *) echo "bubblewrap.sh: got '$1'" >&2; exit 2 ;;
esac
