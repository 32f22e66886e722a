"""Makes 10.77.0.2 this machine itself, seen through a link that delays and loses packets.

Usage: lossy-link.py DELAY_MS LOSS_PERCENT, as root. Each way has that delay and that loss. What is
sent from 10.77.0.1 to 10.77.0.2 comes back from 10.77.0.2 to 10.77.0.1: with both addresses swapped,
every checksum stays right.
"""

import collections
import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
DEVICE = "lossy0"

delay = float(sys.argv[1]) / 1000
loss = float(sys.argv[2]) / 100
tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
subprocess.run(["ip", "address", "add", "10.77.0.1/24", "dev", DEVICE], check=True)
subprocess.run(["ip", "link", "set", DEVICE, "up"], check=True)
print("up", flush=True)

random.seed(1)
under_way = collections.deque()
while True:
    wait = max(0, under_way[0][0] - time.monotonic()) if under_way else None
    if select.select([tun], [], [], wait)[0]:
        packet = os.read(tun, 65536)
        if packet[0] >> 4 == 4 and random.random() >= loss:
            swapped = packet[:12] + packet[16:20] + packet[12:16] + packet[20:]
            under_way.append((time.monotonic() + delay, swapped))
    while under_way and under_way[0][0] <= time.monotonic():
        os.write(tun, under_way.popleft()[1])
