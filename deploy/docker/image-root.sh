#!/bin/sh
# Collects the content of the image: image-root.sh BINARY DIRECTORY
# This is the binary, its shared libraries, CA certificates, and the files for user and host names.
set -eu
binary=$1
root=$2

install -D -m 755 "$binary" "$root/usr/bin/login-relay"
ldd "$binary" | grep -o '/[^ ]*' | while read -r library; do
  install -D -m 755 "$library" "$root$library"
done
install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
echo 'login-relay:x:65532:65532::/:/sbin/nologin' >"$root/etc/passwd"
echo 'login-relay:x:65532:' >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
