#!/bin/sh
# Runs commands as root in a copy of this system that vanishes with them: throwaway-system.sh FOLDER COMMANDS
# FOLDER is /mnt there. systemd seems to run: what systemctl is asked is in /systemctl.log.
set -eu
exec unshare --mount sh -euc '
  mount --make-rprivate /
  mount -t tmpfs tmpfs /mnt
  mkdir /mnt/upper /mnt/work /mnt/root
  mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
  mount --bind "$1" /mnt/root/mnt
  mount --rbind /dev /mnt/root/dev
  mount -t proc proc /mnt/root/proc
  mkdir -p /mnt/root/run/systemd/system
  rm -f /mnt/root/usr/sbin/policy-rc.d
  printf "#!/bin/sh\necho \"\$*\" >>/systemctl.log\n" >/mnt/root/usr/local/bin/systemctl
  chmod +x /mnt/root/usr/local/bin/systemctl
  : >/mnt/root/systemctl.log
  exec chroot /mnt/root sh -euc "$2"
' sh "$@"
