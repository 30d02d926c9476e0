"""A person at a terminal: starts `lictor run` from a shell with job control and types. Prints what held, one word a line."""
import fcntl, os, pty, select, signal, struct, sys, termios, time

lictor = sys.argv[1]
pid, fd = pty.fork()
if pid == 0:
    os.environ["PS1"] = "person> "
    os.environ["TERM"] = "dumb"
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])

seen = b""


def expect(text, seconds=20):
    global seen
    end = time.time() + seconds
    while text.encode() not in seen:
        ready, _, _ = select.select([fd], [], [], max(0, end - time.time()))
        if not ready:
            sys.exit("never saw %r in %r" % (text, seen[-2000:]))
        seen += os.read(fd, 4096)
    seen = seen.split(text.encode(), 1)[1]


def type_(text):
    os.write(fd, text.encode())


def size(rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


size(40, 100)
expect("person> ")
type_("stty -g > before; tty > tty-outside\n")
expect("person> ")

# The agent's terminal is its own, with the size of the person's, and follows it.
agent = r"""
import os, signal, subprocess, sys
def said(*words): os.write(1, ("-".join(words) + "\n").encode())
def size(): return "%d %d" % tuple(reversed(os.get_terminal_size(0)))
signal.signal(signal.SIGINT, lambda *_: said("int", str(1 + 1)))
signal.signal(signal.SIGWINCH, lambda *_: said("size", size()))
open("tty-inside", "w").write(os.ttyname(0) + "\n")
said("begin", size())
for line in sys.stdin:
    line = line.strip()
    if line == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
        said("resumed", str(2 + 2))
    elif line == "push":
        subprocess.run(["python3", "push.py"])
        said("pushed", str(3 + 3))
    elif line == "end":
        sys.exit(9)
    else:
        said("line", line)
"""
open("agent.py", "w").write(agent)
open("push.py", "w").write(
    "import fcntl, sys, termios\n"
    "for c in 'touch injected\\n':\n"
    "    try: fcntl.ioctl(0, termios.TIOCSTI, c.encode())\n"
    "    except OSError: pass\n"
)
type_(lictor + " run -- python3 agent.py\n")
expect("begin-40 100")
print("size")
size(50, 120)
expect("size-50 120")
print("resized")
type_("hello\n")
expect("line-hello")
print("typed")
# Ctrl-C is for the agent, not for what runs it.
type_("\x03")
expect("int-2")
print("interrupted")
# An agent that stops itself gives the terminal back, and goes on with it.
type_("stop\n")
expect("Stopped")
expect("person> ")
type_("echo free-$((5+5))\n")
expect("free-10")
type_("fg\n")
expect("resumed-4")
print("resumed")
# What it types ahead stays in its own terminal.
type_("push\n")
expect("pushed-6")
type_("end\n")
expect("person> ")
type_("echo code-$?; stty -g > after; cmp before after && echo alike-$((6+6))\n")
expect("code-9")
print("code")
expect("alike-12")
print("restored")
type_("exit\n")
os.waitpid(pid, 0)
if open("tty-inside").read() != open("tty-outside").read() and not os.path.exists("injected"):
    print("separate")
