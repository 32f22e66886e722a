#!/bin/sh
# Boots systemd in a copy of this system that vanishes with it, on this system's network:
# boot.sh FOLDER, which is /opt/login-relay there. With --net as well, it has a network of its own.
set -eu
exec unshare --mount --pid --ipc --uts --cgroup ${2-} --fork --kill-child sh -euc '
  mount --make-rprivate /
  mount -t tmpfs tmpfs /mnt
  mkdir /mnt/upper /mnt/work /mnt/root
  mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
  mkdir -p /mnt/root/opt/login-relay
  mount --bind "$1" /mnt/root/opt/login-relay
  cd /mnt/root
  mount -t tmpfs tmpfs dev
  for device in null zero full random urandom tty; do
    touch dev/$device
    mount --bind /dev/$device dev/$device
  done
  mkdir dev/pts dev/shm
  ln -s /proc/self/fd dev/fd
  ln -s pts/ptmx dev/ptmx
  mount -t devpts devpts dev/pts -o newinstance,ptmxmode=0666
  mount -t tmpfs tmpfs dev/shm
  mount -t tmpfs tmpfs run
  mount -t tmpfs tmpfs tmp
  mount -t proc proc proc
  # The kernel is everybody’s.
  mount --bind proc/sys proc/sys
  mount -o remount,ro,bind proc/sys
  mount -t sysfs sysfs sys -o ro
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  echo 0123456789abcdef0123456789abcdef >etc/machine-id
  mkdir host
  pivot_root . host
  umount -l host
  mount --make-rshared /
  exec env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=basic.target
' sh "$1"
