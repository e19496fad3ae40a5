# SPDX-License-Identifier: BSD-3-Clause
"""A QEMU guest under emulation with two network devices, each in a network namespace of its own, and
a Sluice that joins them: what tests/lib/guest_test.py is written with."""

import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

PATIENCE = 90  # seconds until something is taken for hung: emulation on a busy machine is slow


class Fault(Exception):
    """What a test was waiting for did not come."""


def wait_until(condition, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise Fault(f"after {seconds} s not: {what}")


class Switch:
    """A Sluice between the vhost ports a and b. What it says goes to a file."""

    def __init__(self, program, folder, via, client=False, queues=0):
        self.program, self.folder = program, folder
        self.paths = [os.path.join(folder, name + ".sock") for name in "ab"]
        self.graph = os.path.join(folder, "join.json")
        self.log = os.path.join(folder, "join.log")
        port = {"via": via, "client": client, "queues": queues}
        with open(self.graph, "w", encoding="ascii") as file:
            json.dump({
                "eal": "--no-huge",
                "ports": {name: {"vhost": {"path": path, **port}} for name, path in zip("ab", self.paths)},
                "nodes": {"from_a": {"PortInc": {"port": "a"}}, "to_a": {"PortOut": {"port": "a"}},
                          "from_b": {"PortInc": {"port": "b"}}, "to_b": {"PortOut": {"port": "b"}}},
                "graph": ["from_a -> to_b", "from_b -> to_a"]}, file)
        open(self.log, "w", encoding="ascii").close()
        self.process = None

    def start(self):
        with open(self.log, "a", encoding="ascii") as log:
            self.process = subprocess.Popen(
                [self.program, "run", self.graph, "--name", "join", "--quiet"], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env={**os.environ, "SLUICE_SOCKETS": self.folder})
        wait_until(self.stats, "sluice answers")
        return self

    def stats(self):
        done = subprocess.run([self.program, "stats", "--name", "join", "--json"], check=False,
                              capture_output=True, env={**os.environ, "SLUICE_SOCKETS": self.folder})
        return json.loads(done.stdout) if done.returncode == 0 else None

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def crash(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """The exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.crash()
            raise Fault("sluice does not end") from None


class Guest:
    """One QEMU. devices: what stands behind `virtio-net-pci,` for each of the two; serve: QEMU makes
    the sockets, else it connects to them, again and again."""

    def __init__(self, guest, folder, paths, devices, queues=1, serve=False, cores=1):
        self.qmp_path = os.path.join(folder, "qmp.sock")
        command = [
            "qemu-system-x86_64", "-machine", "q35", "-accel", "tcg", "-cpu", "max", "-smp", str(cores),
            "-m", "256", "-object", "memory-backend-memfd,id=memory,share=on,size=256M",
            "-numa", "node,memdev=memory", "-nodefaults", "-nographic", "-serial", "stdio",
            "-qmp", f"unix:{self.qmp_path},server=on,wait=off",
            "-kernel", guest + "/vmlinuz", "-initrd", guest + "/initrd",
            "-append", "console=ttyS0 quiet guest=shell"]
        for i, (path, device) in enumerate(zip(paths, devices)):
            how = "server=on,wait=on" if serve else "reconnect=1"
            many = ",mq=on" if queues > 1 else ""
            command += [
                "-chardev", f"socket,id=char{i},path={path},{how}",
                "-netdev", f"vhost-user,id=net{i},chardev=char{i},queues={queues}",
                "-device", f"virtio-net-pci,netdev=net{i},mac=02:00:00:00:00:0{i + 1},"
                           f"disable-legacy=on,vectors=0,romfile={many},{device}"]
        self.text, self.said, self.number = "", "", 0
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while True:
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                return
            text = data.decode(errors="replace")
            self.said += text
            self.text += text

    def booted(self):
        """Waits for the shell, and puts each device into its namespace."""
        self._wait("guest: ready")
        self.run("PS1= PS2=; set +m; ip() { ip-full \"$@\"; };"
                 " in_() { local n=$1; shift; ip-full netns exec $n \"$@\"; };"
                 " attach() { local dev=$(ls /sys/bus/virtio/devices/virtio$2/net) &&"
                 " { [ $dev = eth$2 ] || ip link set $dev name eth$2; } &&"
                 " ip netns add $1 && ip link set eth$2 netns $1 &&"
                 " in_ $1 ip-full addr add 10.0.0.$(($2 + 1))/24 dev eth$2 &&"
                 " in_ $1 ip-full link set lo up && in_ $1 ip-full link set eth$2 up; };"
                 " mkdir -p /var/run/netns; attach a 0 && attach b 1")
        return self

    def _wait(self, text, seconds=PATIENCE):
        def there():
            if self.process.poll() is not None:
                raise Fault(f"qemu ended with {self.process.returncode}: {self.said[-600:]}")
            return text in self.text
        try:
            wait_until(there, text, seconds)
        except Fault as fault:
            raise Fault(f"{fault}; the guest said: {self.said[-600:]}") from None

    def ask(self, command, seconds=PATIENCE):
        """Runs a command of the shell: its exit code and what it printed."""
        self.number += 1
        end = f"@end {self.number} "
        self.text = ""
        self.process.stdin.write(f"{{ {command}\n}} </dev/null; echo \"@end\" {self.number} $?.\n".encode())
        self.process.stdin.flush()
        self._wait(end, seconds)
        wait_until(lambda: re.search(re.escape(end) + r"(\d+)\.", self.text), "the exit code")
        code = re.search(re.escape(end) + r"(\d+)\.", self.text)
        return int(code[1]), self.text[:code.start()]

    def run(self, command, seconds=PATIENCE):
        code, text = self.ask(command, seconds)
        if code:
            raise Fault(f"{command}: exit code {code}: {text[-300:]}")
        return text

    def features(self, device):
        """The features that were agreed on, by their numbers."""
        bits = self.run(f"cat /sys/bus/virtio/devices/virtio{device}/features").strip()
        bits = re.search(r"[01]{64}", bits)[0]
        return {i for i, bit in enumerate(bits) if bit == "1"}

    def reset(self):
        """The whole machine, as by its button; it boots again."""
        client = socket.socket(socket.AF_UNIX)
        client.connect(self.qmp_path)
        file = client.makefile("rw")
        file.readline()
        self.text = ""
        for command in "qmp_capabilities", "system_reset":
            file.write(json.dumps({"execute": command}) + "\n")
            file.flush()
            while "return" not in file.readline():
                pass
        client.close()
        return self.booted()

    def crash(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.crash()
