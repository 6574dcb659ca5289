"""Small programs that end by themselves, and small programs that do not, in several languages."""

# ruff: noqa: E501

from __future__ import annotations

JOBS: dict[str, str] = {
    "count.py": "total = 0\nwhile True:\n    total += 1\n    if total > 10:\n        break\nprint(total)\n",
    "retry.py": "import time, requests\nwhile True:\n    try:\n        r = requests.get('http://a')\n"
    "        break\n    except OSError:\n        time.sleep(5)\n",
    "main.py": "import sys\ndef main():\n    for line in sys.stdin:\n        print(line)\n"
    "if __name__ == '__main__':\n    main()\n",
    "worker.py": "import threading, queue\nq = queue.Queue()\ndef work():\n    while True:\n"
    "        item = q.get()\n        print(item)\n        q.task_done()\n"
    "threading.Thread(target=work, daemon=True).start()\nfor i in range(9):\n    q.put(i)\nq.join()\n",
    "local_server.py": "import threading, http.server, urllib.request\n"
    "s = http.server.HTTPServer(('', 0), http.server.SimpleHTTPRequestHandler)\n"
    "threading.Thread(target=s.serve_forever).start()\n"
    "print(urllib.request.urlopen('http://localhost').read())\ns.shutdown()\n",
    "numbers.py": "import numpy as np\na = np.random.rand(500, 500)\nfor _ in range(100):\n    a = a @ a\n",
    "poll.py": "import os, time\nwhile not os.path.exists('done'):\n    time.sleep(10)\n",
    "generator.py": "def primes():\n    n = 2\n    while True:\n        yield n\n        n += 1\n"
    "g = primes()\nprint(sum(next(g) for _ in range(9)))\n",
    "stdin.py": "n = int(input())\nprint(sum(int(input()) for _ in range(n)))\n",
    "unused.py": "import flask\nprint('server' * 3)\ndef serve():\n    flask.Flask('a').run()\n",
    "returns.py": "def find(x):\n    while True:\n        x = x * 3 + 1\n        if x % 7 == 0:\n"
    "            return x\nprint(find(2))\n",
    "confirm.py": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--ask')\n"
    "a = p.parse_args()\nif a.ask:\n    input('really? ')\nprint('x')\n",
    "one_client.py": "import socket\ns = socket.socket()\ns.bind(('', 0))\ns.listen()\n"
    "c, _ = s.accept()\ndata = c.recv(100)\n",
    "tasks.py": "import asyncio\nasync def tick():\n    while True:\n        await asyncio.sleep(1)\n"
    "async def main():\n    t = asyncio.create_task(tick())\n    await asyncio.sleep(5)\n"
    "    t.cancel()\nasyncio.run(main())\n",
    "alarm.py": "import signal\nsignal.alarm(10)\nwhile True:\n    sum(range(1000))\n",
    "slice.py": "import itertools\nfor i in itertools.islice(itertools.count(), 9):\n    print(i)\n",
    "exits.py": "import sys\nn = 0\nwhile 1:\n    n += 1\n    if n > 1e6:\n        sys.exit(0)\n",
    "stopiteration.py": "it = iter(range(5))\ntry:\n    while True:\n        print(next(it))\n"
    "except StopIteration:\n    pass\n",
    "step.sh": "#!/bin/bash\nfor f in *.gz; do\n  gunzip $f\ndone\n",
    "until.sh": "#!/bin/bash\nuntil [ -f done ]; do sleep 5; done\n",
    "background.sh": "#!/bin/bash\nredis-server &\nsleep 1\nredis-cli ping\nkill $!\n",
    "timed.sh": "#!/bin/bash\ntimeout 60 tail -f log\n",
    "tries.sh": "#!/bin/bash\nwhile true; do\n  curl -f http://a && break\n  sleep 3\ndone\n",
    "lines.sh": "#!/bin/bash\nwhile read -r line; do echo $line; done < input\n",
    "batch.sh": "#!/bin/bash\n#SBATCH --time=10\nmodule load gcc\nsrun ./solve input\n",
    "sum.c": '#include <stdio.h>\nint main(void) {\n  int n = 0, x;\n  while (scanf("%d", &x) == 1) n += x;\n'
    '  printf("%d", n);\n}\n',
    "switch.c": "int main() { int i = 0; for (;;) { switch (i++) { case 9: return 0; default: break; } } }\n",
    "goto.c": "int main() { int i = 0; while (1) { if (++i > 5) goto out; }\nout: return 0; }\n",
    "thread.c": "#include <pthread.h>\nvoid *beat(void *p) { while (1) sleep(1); }\n"
    "int main() { pthread_t t; pthread_create(&t, 0, beat, 0); work(); return 0; }\n",
    "copy.cpp": "#include <fstream>\nint main() { std::ifstream in(\"a\"); std::string s;\n"
    "  while (std::getline(in, s)) std::cout << s; }\n",
    "loop.cpp": "int main() { while (true) { if (step()) break; } }\n",
    "heat.f90": "program heat\ninteger :: i\ndo\n  i = i + 1\n  if (i > 10) exit\nend do\nend program\n",
    "sum.f90": "program s\ninteger :: n\nread(*,*) n\nprint *, n * 2\nend program\n",
    "fit.R": "x <- read.csv('a.csv')\nrepeat {\n  x <- step(x)\n  if (done(x)) break\n}\nprint(x)\n",
    "map.R": "y <- sapply(1:100, function(i) i^2)\nprint(sum(y))\n",
    "walk.jl": "i = 0\nwhile true\n  global i += 1\n  i > 10 && break\nend\nprintln(i)\n",
    "fetch.go": "package main\nimport \"net/http\"\nfunc main() { for i := 0; i < 9; i++ {\n"
    " r, _ := http.Get(\"http://a\"); r.Body.Close() } }\n",
    "ticks.go": "package main\nimport \"time\"\nfunc main() { done := make(chan bool)\n"
    " go func() { for { time.Sleep(1) } }()\n <-done }\n",
    "label.go": "package main\nfunc main() {\nouter:\n for { for { break outer } } }\n",
    "read.rs": "use std::io;\nfn main() { let mut s = String::new();\n loop {\n"
    "  if io::stdin().read_line(&mut s).unwrap() == 0 { break; } } }\n",
    "spawn.rs": "use std::thread;\nfn main() { let h = thread::spawn(|| { loop { thread::sleep(d); } });\n"
    " work(); }\n",
    "Sum.java": "class Sum { public static void main(String[] a) { long s = 0;\n"
    " while (true) { s++; if (s > 99) break; } System.out.println(s); } }\n",
    "Pool.java": "class Pool { public static void main(String[] a) throws Exception {\n"
    " Thread t = new Thread(() -> { while (true) { beat(); } }); t.setDaemon(true); t.start(); work(); } }\n",
    "count.pl": "use strict;\nmy %h;\nwhile (my $l = <STDIN>) { $h{$l}++ }\nprint scalar keys %h;\n",
    "last.pl": "my $i = 0;\nwhile (1) { last if $i++ > 5; }\n",
    "break.lua": "local i = 0\nwhile true do i = i + 1 if i > 9 then break end end\nprint(i)\n",
    "repeat.lua": "local i = 0\nrepeat i = i + 1 until i > 9\n",
    "iterate.m": "x = 1;\nwhile true\n  x = x / 2;\n  if x < 1e-6, break; end\nend\ndisp(x)\n",
}  # fmt: skip
"""File name to text."""

NOT_JOBS: dict[str, tuple[int, str]] = {
    "web.py": (4, "from flask import Flask\napp = Flask('a')\nif __name__ == '__main__':\n    app.run(port=80)\n"),
    "files.py": (2, "import http.server, socketserver\n"
                 "socketserver.TCPServer(('', 80), http.server.SimpleHTTPRequestHandler).serve_forever()\n"),
    "watch.py": (3, "import os, time\nseen = set()\nwhile True:\n    for f in os.listdir('in'):\n"
                 "        seen.add(f)\n    time.sleep(10)\n"),
    "interrupt.py": (3, "import time\ntry:\n    while True:\n        time.sleep(1)\n"
                     "except KeyboardInterrupt:\n    pass\n"),
    "inner.py": (2, "import time\nwhile True:\n    try:\n        time.sleep(1)\n"
                 "    except KeyboardInterrupt:\n        break\n"),
    "menu.py": (2, "while True:\n    choice = input('> ')\n    if choice == 'q':\n        break\n"),
    "main.py": (2, "if __name__ == '__main__':\n    print(input('What is your name? '))\n"),
    "name.py": (1, "name = input('What is your name? ')\nprint(name)\n"),
    "accept.py": (4, "import socket\ns = socket.socket()\ns.listen()\nwhile True:\n    c, a = s.accept()\n"
                  "    c.sendall(b'x')\n"),
    "daemon.py": (5, "import signal, time\nrunning = True\ndef stop(*a):\n    global running; running = False\n"
                  "while running:\n    time.sleep(1)\nsignal.signal(signal.SIGTERM, stop)\n"),
    "bot.py": (3, "import discord\nbot = discord.Client()\nbot.run_forever()\n"),
    "loop.py": (4, "import asyncio\nasync def main():\n    n = 0\n    while True:\n"
                "        await asyncio.sleep(1)\nasyncio.run(main())\n"),
    "count.py": (2, "import itertools\nfor i in itertools.count():\n    print(i)\n"),
    "gui.py": (3, "import tkinter\nroot = tkinter.Tk()\nroot.mainloop()\n"),
    "subscribe.py": (4, "import redis\np = redis.Redis().pubsub()\np.subscribe('a')\nfor m in p.listen():\n    print(m)\n"),
    "uvicorn.py": (2, "import uvicorn\nuvicorn.run('a:app')\n"),
    "quiz.py": (3, "text = make()\nwhile True:\n    if input(text) == 'q':\n        break\n"),
    "password.py": (2, "import getpass\np = getpass.getpass('Password: ')\n"),
    "server.sh": (2, "#!/bin/bash\npython3 -m http.server 8000\n"),
    "notebook.sh": (2, "#!/bin/bash\njupyter lab --no-browser\n"),
    "beat.sh": (2, "#!/bin/bash\nwhile true; do date; sleep 60; done\n"),
    "follow.sh": (2, "#!/bin/bash\ntail -F /var/log/messages\n"),
    "ask.sh": (2, "#!/bin/bash\nread -p 'Continue? ' answer\necho $answer\n"),
    "name.sh": (2, "#!/bin/bash\nread -rp 'Name: ' name\nmkdir $name\n"),
    "watch.sh": (2, "#!/bin/bash\nwatch -n 5 squeue\n"),
    "always.sh": (2, "#!/bin/bash\nfor ((;;)); do ./poll; sleep 1; done\n"),
    "infinity.sh": (3, "#!/bin/bash\n./start &\nsleep infinity\n"),
    "inner.sh": (3, "#!/bin/bash\npython3 - <<'EOF'\nwhile True:\n    pass\nEOF\n"),
    "echo.c": (4, "#include <sys/socket.h>\nint main() {\n  int s = make();\n  for (;;) {\n"
               "    int c = accept(s, 0, 0);\n    if (c < 0) continue;\n    close(c);\n  }\n}\n"),
    "flag.c": (5, "#include <signal.h>\nvolatile int stop;\nvoid on(int s) { stop = 1; }\n"
               "int main() { signal(SIGINT, on);\n  while (!stop) { sleep(1); }\n}\n"),
    "ask.c": (4, '#include <stdio.h>\nint main() {\n  int n; printf("Enter a number: ");\n'
              '  scanf("%d", &n);\n}\n'),
    "beat.cpp": (2, "int main() {\n  while (true) { std::this_thread::sleep_for(d); }\n}\n"),
    "ask.cpp": (3, "#include <iostream>\nint main() { int n; std::cout << \"How many? \";\n  std::cin >> n;\n}\n"),
    "poll.f90": (3, "program p\ninteger :: i\ndo\n  i = i + 1\n  call sleep(1)\nend do\nend program\n"),
    "shiny.R": (2, "library(shiny)\nrunApp('app')\n"),
    "poll.R": (1, "repeat {\n  x <- list.files('in')\n  Sys.sleep(5)\n}\n"),
    "ask.R": (1, "n <- readline(prompt = 'Size? ')\nprint(n)\n"),
    "poll.jl": (1, "while true\n  println(readdir())\n  sleep(5)\nend\n"),
    "serve.go": (3, 'package main\nimport "net/http"\nfunc main() { http.ListenAndServe(":80", nil) }\n'),
    "accept.go": (3, 'package main\nfunc main() { l, _ := net.Listen("tcp", ":80")\n'
                  " for {\n  c, _ := l.Accept()\n  go handle(c)\n } }\n"),
    "ticker.go": (3, "package main\nimport \"time\"\nfunc main() { for range time.Tick(1) { poll() } }\n"),
    "serve.rs": (3, 'use std::net::TcpListener;\nfn main() { let l = TcpListener::bind("a").unwrap();\n'
                 " for s in l.incoming() { handle(s); } }\n"),
    "poll.rs": (1, "fn main() { loop { poll(); std::thread::sleep(d); } }\n"),
    "Echo.java": (2, "class Echo { public static void main(String[] a) throws Exception {\n"
                  " ServerSocket s = new ServerSocket(80); while (true) { Socket c = s.accept(); c.close(); } } }\n"),
    "Poll.java": (2, "class Poll { public static void main(String[] a) throws Exception {\n"
                  " for (;;) { Thread.sleep(1000); poll(); } } }\n"),
    "Ask.java": (3, "class Ask { public static void main(String[] a) {\n Scanner in = new Scanner(System.in);\n"
                 ' System.out.print("Your age: "); int n = in.nextInt(); } }\n'),
    "poll.pl": (1, "while (1) { system('date'); sleep 60; }\n"),
    "serve.pl": (3, "use IO::Socket::INET;\nmy $s = IO::Socket::INET->new(Listen => 5);\n"
                 "while (my $c = $s->accept()) { print $c 'x'; }\n"),
    "poll.lua": (2, "local socket = require('socket')\nwhile true do socket.sleep(1) end\n"),
    "ask.m": (1, "n = input('How many? ');\ndisp(n)\n"),
    "poll.m": (1, "while true\n  pause(1);\nend\n"),
}  # fmt: skip
"""File name to the line of the reason, and text."""
