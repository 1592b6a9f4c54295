#!/usr/bin/env python3
"""Prints ports on which nobody listens, one in a line. Usage: scripts/free-ports.py COUNT

They are below those that the system gives to connections (ip_local_port_range), of which hundreds come and go:
a server that is ended and started again finds its port free.
"""
import random
import socket
import sys

found = []
while len(found) < int(sys.argv[1]):
    one = socket.socket()
    try:
        one.bind(("127.0.0.1", random.randrange(10_000, 32_768)))
    except OSError:
        continue
    found.append(one)
print(*(one.getsockname()[1] for one in found), sep="\n")
