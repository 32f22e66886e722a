#!/bin/sh
# Gathers the whole content of the image: image-root.sh BINARY DIRECTORY
# The binary, the libraries that it is linked with, CA certificates, and names for users and hosts.
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
