//! PowerShell text is read for every command it would run, whatever it is hidden in.

use portcullis_analysis::Knowledge;
use portcullis_analysis::powershell::{CommandDialect, PowerShellCommand, PowerShellSurvey, survey};

/// Writes commands in a short form: name and arguments separated by blanks, commands by ` ; `.
///
/// An argument that is only known at run time stands in `<>`, a pattern in `()`, one with blanks in `""`.
fn shown(survey: &PowerShellSurvey) -> String {
    survey.commands.iter().map(shown_command).collect::<Vec<_>>().join(" ; ")
}

fn shown_command(command: &PowerShellCommand) -> String {
    let mut words = vec![command.name.clone()];
    words.extend(command.arguments.iter().map(|argument| match argument.knowledge {
        Knowledge::Dynamic => format!("<{}>", argument.text),
        Knowledge::Glob => format!("({})", argument.text),
        Knowledge::Fixed if argument.text.contains(' ') => format!("\"{}\"", argument.text),
        Knowledge::Fixed | Knowledge::Tilde => argument.text.clone(),
    }));
    words.extend(command.redirections.iter().map(|(access, target)| format!("{access:?}:{}", target.text)));
    words.join(" ")
}

/// Texts that hide nothing, and their commands.
const READ: &[(&str, &str)] = &[
    // Names and arguments.
    ("Get-ChildItem", "get-childitem"),
    ("gci -Recurse src", "get-childitem -Recurse src"),
    ("LS src; Cat a.txt", "get-childitem src ; get-content a.txt"),
    (
        "rm a; del b; rd c; ri d; erase e; rmdir f",
        "remove-item a ; remove-item b ; remove-item c ; remove-item d ; remove-item e ; remove-item f",
    ),
    (
        "curl http://x.test; wget u; iwr v",
        "invoke-webrequest http://x.test ; invoke-webrequest u ; invoke-webrequest v",
    ),
    ("curl.exe http://x.test/?a=1", "curl http://x.test/?a=1"),
    ("sc a.txt b; sc.exe query", "set-content a.txt b ; sc query"),
    (r"Microsoft.PowerShell.Management\Remove-Item x", "remove-item x"),
    (r"C:\Windows\System32\net.exe user", "net user"),
    ("./build.cmd all", "build all"),
    (".\\run.ps1 -Fast", "run.ps1 -Fast"),
    ("7z x a.zip", "7z x a.zip"),
    ("git commit -m 'a b' --no-verify", "git commit -m \"a b\" --no-verify"),
    ("rm *.log, 'b?.txt'", "remove-item (*.log) (b?.txt)"),
    ("git add '*.rs'", "git add *.rs"),
    ("cp -Path:a -Destination:\"b c\"", "copy-item -Path:a \"-Destination:b c\""),
    ("echo it''s 'it''s' \"a\"\"b\"", "write-output its it's a\"b"),
    ("echo a`tb \"x`ty\"", "write-output atb x\ty"),
    ("echo \u{201c}a b\u{201d} \u{2018}c d\u{2019}", "write-output \"a b\" \"c d\""),
    ("ls a `\n  -Recurse", "get-childitem a -Recurse"),
    ("ls a # rm b\n<# rm c\n #> pwd", "get-childitem a ; get-location"),
    ("ls a#b", "get-childitem a#b"),
    ("ping --% -n 1 \"a b\" | sort", "ping -n 1 \"a b\" ; sort-object"),
    ("gps | sort CPU | select -First 3", "get-process ; sort-object CPU ; select-object -First 3"),
    ("gps |\n  sort\n  | select Name", "get-process ; sort-object ; select-object Name"),
    ("ls a && pwd || hostname", "get-childitem a ; get-location ; hostname"),
    ("ls a 2>$null *>$null 2>&1", "get-childitem a"),
    ("ls a > out.txt 2>> err.txt", "get-childitem a Write:out.txt Write:err.txt"),
    ("'text' > f.txt", "write-output text Write:f.txt"),
    ("'a','b' | Out-File f", "write-output a b ; out-file f"),
    // Statements and blocks.
    (
        "if (Test-Path x) { rm x } elseif ($true) { ls } else { pwd }",
        "test-path x ; remove-item x ; get-childitem ; get-location",
    ),
    ("foreach ($f in ls) { rm $f }", "get-childitem ; remove-item <$f>"),
    ("for ($i = 0; $i -lt 3; $i++) { ping x }", "ping x"),
    (
        "while (ls) { rm a }; do { rm b } until (ls)",
        "get-childitem ; remove-item a ; remove-item b ; get-childitem",
    ),
    ("switch -regex (ls) { 'a' { rm a } default { rm b } }", "get-childitem ; remove-item a ; remove-item b"),
    (
        "try { rm a } catch [Exception] { rm b } finally { rm c }",
        "remove-item a ; remove-item b ; remove-item c",
    ),
    ("trap { rm a }", "remove-item a"),
    ("function f { param([string]$p = (ls)) rm $p }; f", "f ; get-childitem ; remove-item <$p>"),
    ("filter f($a = 'x') { rm $a }", "remove-item <$a>"),
    (
        "ls | % { rm $_ } | ? { ls }",
        "get-childitem ; foreach-object <{ rm $_ }> ; remove-item <$_> ; where-object <{ ls }> ; get-childitem",
    ),
    (
        "icm -ScriptBlock { rm x }; sajb { rm y }",
        "invoke-command -ScriptBlock <{ rm x }> ; remove-item x ; start-job <{ rm y }> ; remove-item y",
    ),
    ("& { rm x }", "& <{ rm x }> ; remove-item x"),
    ("return (rm x)", "remove-item x"),
    ("echo \"a $(rm x) b\"", "write-output <a $(rm x) b> ; remove-item x"),
    ("ls @(rm x)", "get-childitem <@(rm x)> ; remove-item x"),
    ("ls (rm x).Name", "get-childitem <(rm x).Name> ; remove-item x"),
    ("$h = @{ a = 1; 'b' = (rm x) }; f @h", "remove-item x ; f -a 1 -b <(rm x)>"),
    ("sort @{ e = { rm x } }", "sort-object <@{ e = { rm x } }> ; remove-item x"),
    // Variables and constants.
    ("$d = 'out'; rm $d", "remove-item out"),
    ("$d = \"C:\\out\"; rm \"$d\\x\" $d\\y ${d}", "remove-item C:\\out\\x C:\\out\\y C:\\out"),
    ("$d = 'a','b'; rm $d", "remove-item a b"),
    ("$d = 'a'; $d += 'b'; rm $d", "remove-item ab"),
    ("$d = 'a'; foreach ($i in 1..2) { rm $d; $d = 'b' }", "remove-item <$d> ; remove-item <$d>"),
    ("$d = ls; rm $d", "get-childitem ; remove-item <$d>"),
    (
        "rm $env:TEMP\\x \"$env:TEMP\\y\" ${env:TEMP}",
        "remove-item <$env:TEMP\\x> <$env:TEMP\\y> <${env:TEMP}>",
    ),
    ("rm env:X, Env:\\Y; rm Env:\\Z, x", "unset X Y ; remove-item Env:\\Z x"),
    ("$p = \"$env:TEMP\\x\"; rm $p", "remove-item <$env:TEMP\\x>"),
    ("Set-Variable d out; rm $d", "set-variable d out ; remove-item out"),
    ("rm ($env:TEMP + '\\x')", "remove-item <$env:TEMP\\x>"),
    ("[string]$d = 'out'; rm $d", "remove-item out"),
    ("$t = @'\na $b\n'@; echo $t", "write-output \"a $b\""),
    ("$b = 1; $t = @\"\na $b\n\"@; echo $t", "write-output \"a 1\""),
    // Types and members.
    (
        "[Net.WebClient]::new().DownloadString('http://x.test')",
        "[system.net.webclient]::new ; .downloadstring http://x.test",
    ),
    (
        "(New-Object Net.WebClient).DownloadFile('u', 'f')",
        "new-object Net.WebClient ; [system.net.webclient]::new ; .downloadfile u f",
    ),
    ("$w.\"Down`load`String\"('u')", ".downloadstring u"),
    ("[IO.File]::Delete('x')", "[system.io.file]::delete x"),
    ("$f.Attributes = 'Hidden'", ".attributes Hidden"),
    ("[adsi]'WinNT://x'", "[adsi] WinNT://x"),
    ("ls | % Delete", "get-childitem ; foreach-object Delete ; .delete"),
    // Text that is run.
    ("iex 'rm x; ls'", "invoke-expression \"rm x; ls\" ; remove-item x ; get-childitem"),
    ("'rm x' | iex", "write-output \"rm x\" ; invoke-expression ; remove-item x"),
    ("iex \"iex 'rm x'\"", "invoke-expression \"iex 'rm x'\" ; invoke-expression \"rm x\" ; remove-item x"),
    (
        "& ([scriptblock]::Create('rm x'))",
        "[system.management.automation.scriptblock]::create \"rm x\" ; remove-item x ; &",
    ),
    ("pwsh -NoProfile -c rm x", "pwsh -NoProfile -c rm x ; remove-item x"),
    (
        "powershell.exe -nop -w hidden -Command \"rm x; ls\"",
        "powershell -nop -w hidden -Command \"rm x; ls\" ; remove-item x ; get-childitem",
    ),
    ("powershell -File C:\\a.ps1 -x", "powershell -File C:\\a.ps1 -x ; a.ps1 -x"),
    ("powershell -c { rm x }", "powershell -c <{ rm x }> ; remove-item x"),
    ("cmd /c \"del /q x & rd /s y\"", "cmd /c \"del /q x & rd /s y\" ; del /q x ; rd /s y"),
    ("cmd.exe /d /c 'echo hi^&bye'", "cmd /d /c \"echo hi^&bye\" ; echo hi&bye"),
    ("saps notepad -ArgumentList 'a b','c'", "start-process notepad -ArgumentList \"a b\" c ; notepad a b c"),
    (
        "Start-Process cmd '/c del x' -Verb RunAs",
        "start-process cmd \"/c del x\" -Verb RunAs ; cmd /c del x ; del x",
    ),
    (
        "schtasks /create /tn t /tr \"cmd /c del x\"",
        "schtasks /create /tn t /tr \"cmd /c del x\" ; cmd /c del x ; del x",
    ),
    ("wmic process call create 'calc.exe /x'", "wmic process call create \"calc.exe /x\" ; calc /x"),
    ("wsl -d Debian rm -r x", "wsl -d Debian rm -r x ; bash -c \"rm -r x\""),
    ("wsl -e rm x", "wsl -e rm x ; rm x"),
    ("bash -c \"rm x\"", "bash -c \"rm x\""),
    (
        "rundll32 shell32.dll,ShellExec_RunDLL calc.exe",
        "rundll32 shell32.dll ShellExec_RunDLL calc.exe ; calc",
    ),
    (
        "sc.exe create s binPath= 'cmd /c del x'",
        "sc create s binPath= \"cmd /c del x\" ; cmd /c del x ; del x",
    ),
    ("Set-Alias zz iex; zz 'rm x'", "set-alias zz iex ; invoke-expression \"rm x\" ; remove-item x"),
    (
        "[Diagnostics.Process]::Start('cmd', '/c del x')",
        "[system.diagnostics.process]::start cmd \"/c del x\" ; cmd /c del x ; del x",
    ),
    (
        "([wmiclass]'Win32_Process').Create('calc')",
        "[system.management.managementclass] Win32_Process ; .create calc ; calc",
    ),
    (
        "icim -Class p -Name create @{ CommandLine = 'calc x' }",
        "invoke-cimmethod -Class p -Name create <@{ CommandLine = 'calc x' }> ; calc x",
    ),
];

/// Spellings of `Invoke-Expression 'rm x'` whose name or text is computed.
const HIDDEN: &[&str] = &[
    "i`e`x 'rm x'",
    "IeX 'rm x'",
    "& 'iex' 'rm x'",
    "&(\"i\"+'ex') 'rm x'",
    ". ('{1}{0}' -f 'x','ie') 'rm x'",
    "& ('i','e','x' -join '') 'rm x'",
    "& (-join ('i','e','x')) 'rm x'",
    "& ([char]105 + [char]0x65 + 'x') 'rm x'",
    "& (-join [char[]](105,101,120)) 'rm x'",
    "& ('xei'[-1..-3] -join '') 'rm x'",
    "& ('iQx' -replace 'q','e') 'rm x'",
    "& 'iQx'.Replace('Q','e') 'rm x'",
    "& ([string]::Join('', ('i','ex'))) 'rm x'",
    "& ('i e x' -split ' ' -join '') 'rm x'",
    "$x='iex'; & $x 'rm x'",
    "$a='i'; $b='ex'; &($a+$b) 'rm x'",
    "$a='i'; $b='ex'; & \"$a$b\" 'rm x'",
    "iex ('r'+'m x')",
    "$s = 'rm'; $s += ' x'; iex $s",
    "iex -Command 'rm x'",
    "iex ([Text.Encoding]::Unicode.GetString([Convert]::FromBase64String('cgBtACAAeAA=')))",
    "iex ([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('cm0geA==')))",
    "sal q iex; q 'rm x'",
    "\u{26}(\u{2018}iex\u{2019}) 'rm x'",
];

/// Texts that run what they do not tell.
const UNSEEN: &[&str] = &[
    "iex (iwr http://x.test)",
    "iwr http://x.test | iex",
    "iex $code",
    "& $program x",
    "& (gcm i*x) 'rm x'",
    "& $env:ComSpec[4,24,25]-join'' 'rm x'",
    "$x = Read-Host; & $x",
    "[scriptblock]::Create($code)",
    "powershell -enc $code",
    "powershell -enc '***'",
    "cat f | powershell -",
    "gc f | cmd",
    "cmd /c \"$env:X\"",
    "start-process $x",
    "$w.$m('u')",
    "mshta vbscript:Close(1)",
    "rundll32 javascript:x",
    "Add-Type -TypeDefinition 'class A {}'",
    "class A { }",
    "New-Object $t",
    "\"C:\\x.exe\" -a",
    "ls (",
    "ls {",
    "ls 'a",
    "ls \"a",
    "ls \"$(a",
    "@'\na",
    "$x = @{ a = 1",
    "[Net.Web",
    "ls )",
    "ls }",
    "if x",
    "a\0b",
];

/// Pieces of text that are repeated until they are long.
const HOSTILE: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "`",
    "$",
    "$(",
    "@(",
    "@{",
    "\"$(",
    "{(",
    "[a",
    "[a]",
    "<#",
    "#",
    "@'\n",
    "@\"\n",
    "$x=",
    "$x+=",
    "!",
    "-not ",
    "-",
    "+",
    ",",
    ".",
    ".a",
    ".a(",
    "::a",
    "[0]",
    "..",
    "1..",
    "|",
    "||",
    "&",
    "&&",
    ";",
    "a ",
    "a|",
    "iex ",
    "iex '",
    "iex \"",
    "cmd /c ",
    "cmd /c \"",
    "powershell -c ",
    "if(",
    "if(a){",
    "switch(a){",
    "foreach($a in ",
    "function a{",
    "param(",
    "catch[a]",
    "trap",
    "=",
    "%a%",
    "^",
    "for %i in (",
    "if exist ",
    "--%",
    ">",
    "2>",
    "\0",
    "\u{e9}",
    "\u{2019}",
    "\u{201c}",
    "$a;",
    "[;",
    "$x?.",
    "a=b;",
    "-join ",
    "-f ",
    "'a'+",
    "'a','b',",
    "$a.b",
    "${",
    "wsl ",
    "start ",
];

#[test]
fn commands_are_listed_with_their_canonical_names_and_arguments() {
    for (text, expected) in READ {
        let found = survey(text);
        assert_eq!(shown(&found), *expected, "{text}");
        assert_eq!(found.opacities, [], "{text}");
    }
}

#[test]
fn a_hidden_name_or_text_is_computed_from_its_literals() {
    for text in HIDDEN {
        let found = survey(text);
        let names: Vec<&str> = found.commands.iter().map(|command| command.name.as_str()).collect();
        assert!(names.contains(&"invoke-expression"), "{text}: {names:?}");
        let removal = found.commands.iter().find(|command| command.name == "remove-item");
        let removal = removal.unwrap_or_else(|| panic!("{text}: {names:?}"));
        assert_eq!(shown_command(removal), "remove-item x", "{text}");
        assert_eq!(found.opacities, [], "{text}");
    }
}

#[test]
fn what_is_only_known_at_run_time_is_said_to_be_unknown() {
    for text in UNSEEN {
        let found = survey(text);
        assert!(!found.opacities.is_empty(), "{text}: {}", shown(&found));
        assert!(!found.is_literal_only(), "{text}");
    }
}

#[test]
fn an_encoded_command_is_decoded_and_marked() {
    for option in ["-e", "-ec", "-enc", "-EncodedCommand", "/enc", "\u{2013}enc"] {
        let text = format!("powershell -nop {option} cgBtACAAeAA=");
        let found = survey(&text);
        let removal = found.commands.last().unwrap();
        assert_eq!(shown_command(removal), "remove-item x", "{text}");
        assert!(removal.decoded, "{text}");
        assert_eq!(removal.nested_in, Some(0), "{text}");
    }
    let found = survey("iex ([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('cm0geA==')))");
    assert!(found.commands.last().unwrap().decoded);
    assert!(!survey("iex 'rm x'").commands.last().unwrap().decoded);
}

#[test]
fn lines_of_cmd_are_read_as_cmd_reads_them() {
    let lines = [
        ("del /f/q x", "del /f/q x"),
        ("del/f x&rd/s/q y", "del /f x ; rd /s/q y"),
        ("d^e^l x", "del x"),
        ("\"C:\\a b\\x.exe\" -y", "x -y"),
        ("erase x || echo no>f.txt", "del x ; echo no Write:f.txt"),
        ("if exist x (del x) else (copy a b)", "del x ; copy a b"),
        ("if not \"%a%\"==\"b\" del x", "del x"),
        ("for %i in (a b) do del %i", "for <%i> in a b ; del <%i>"),
        ("for /f %i in ('dir /b') do @echo %i", "for /f <%i> in 'dir /b' ; dir /b ; echo <%i>"),
        ("rem del x", ""),
        (":: del x\r\ndel y", "del y"),
        ("@echo off", "echo off"),
        ("call del x", "del x"),
        ("start \"\" /b calc x", "start  /b calc x ; calc x"),
        ("type f | findstr x", "type f ; findstr x"),
        ("dir %TEMP% *.x 2>nul", "dir <%TEMP%> (*.x)"),
        ("cmd /c \"cmd /c del x\"", "cmd /c \"cmd /c del x\" ; cmd /c del x ; del x"),
        ("powershell -c \"rm x\"", "powershell -c \"rm x\" ; remove-item x"),
    ];
    for (line, expected) in lines {
        // Single quotes hand the line on as it is.
        let text = format!("cmd /c '{}'", line.replace('\'', "''"));
        let found = survey(&text);
        let inner: Vec<String> = found
            .commands
            .iter()
            .skip(1)
            .filter(|command| command.dialect == CommandDialect::Cmd || command.name == "remove-item")
            .map(shown_command)
            .collect();
        assert_eq!(inner.join(" ; "), expected, "{line}");
    }
}

#[test]
fn text_that_may_be_meant_for_cmd_is_read_both_ways() {
    let found = survey("copy a %TEMP%\\b");
    assert_eq!(shown(&found), "copy-item a %TEMP%\\b ; copy a <%TEMP%\\b>");
    assert!(!found.is_literal_only());
    let found = survey("$x = 1; copy a %TEMP%\\b");
    assert_eq!(shown(&found), "copy-item a %TEMP%\\b");
}

#[test]
fn pipes_and_nesting_point_at_the_right_commands() {
    let found = survey("ls | % { rm (gi $_) } | sort");
    let names: Vec<&str> = found.commands.iter().map(|command| command.name.as_str()).collect();
    assert_eq!(names, ["get-childitem", "foreach-object", "remove-item", "get-item", "sort-object"]);
    let nesting: Vec<Option<usize>> = found.commands.iter().map(|command| command.nested_in).collect();
    assert_eq!(nesting, [None, None, Some(1), Some(2), None]);
    let piped: Vec<_> = found.commands.iter().map(|command| command.piped.clone()).collect();
    assert_eq!(piped, [0..0, 0..1, 0..0, 0..0, 1..4]);
}

#[test]
fn spans_point_into_the_outermost_text() {
    let text = "ls; iex 'rm x'";
    let found = survey(text);
    let spans: Vec<&str> = found.commands.iter().map(|command| command.span.of(text)).collect();
    assert_eq!(spans, ["ls", "iex 'rm x'", "'rm x'"]);
}

#[test]
fn called_and_dot_sourced_commands_are_marked() {
    for (text, expected) in [("& git x", true), (". .\\x.ps1", true), (".\\x.ps1", false), ("git x", false)] {
        assert_eq!(survey(text).commands[0].is_dot_sourced_or_called, expected, "{text}");
    }
}

#[test]
fn only_commands_with_literal_arguments_are_literal() {
    let literal = [
        "ls",
        "Get-ChildItem -Recurse src",
        "gc 'a b.txt' | sls x",
        "ls a; pwd\nhostname",
        "ls a && pwd",
        "ls *.rs ~\\x 2>$null",
        "git log -n 3 # why",
        "ls -Recurse:$true",
        "git log --format=%h%n%s",
    ];
    for text in literal {
        assert!(survey(text).is_literal_only(), "{text}");
    }
    let other = [
        "",
        "# nothing",
        "ls $x",
        "ls $env:TEMP",
        "ls \"$x\"",
        "ls $(pwd)",
        "ls (pwd)",
        "ls @(pwd)",
        "ls @x",
        "ls { a }",
        "ls @{}",
        "ls > f",
        "ls 2> f",
        "ls < f",
        "$x = 1",
        "1 + 1",
        "'a'",
        "'a' | ls",
        "[Math]::Pi",
        "ls a.Length; 'x'.Length",
        "& ls",
        ". ls",
        "l`s",
        "ls a`tb",
        "ls a`\nb",
        "ls --% a",
        "ls &",
        "if ($true) { ls }",
        "exit",
        "function ls { rm x }",
        "sal a ls",
        "powershell -enc bABzAA==",
        "ls %TEMP%",
    ];
    for text in other {
        assert!(!survey(text).is_literal_only(), "{text}");
    }
}

#[test]
fn hostile_text_ends_soon_and_without_panic() {
    for unit in HOSTILE {
        let is_bracket = matches!(*unit, "(" | "{" | "[" | "\"" | "'" | "$(" | "@(" | "\"$(");
        let length = if is_bracket { 100_000 } else { 20_000 };
        for head in ["", "$a='xxxxxxxxxxxxxxxx';", "ls "] {
            let text = format!("{head}{}", unit.repeat(length / unit.len()));
            let found = survey(&text);
            assert!(found.commands.len() <= text.len() + 1, "{head}{unit}");
            assert!(found.opacities.len() <= 4 * text.len(), "{head}{unit}");
        }
    }
}

#[test]
fn text_that_grows_as_it_is_computed_is_given_up() {
    let doubling: String = (0..40).map(|_| "$a=$a+$a;").collect();
    let found = survey(&format!("$a='rm x;'; {doubling} iex $a"));
    assert!(!found.opacities.is_empty());
    let repeated = format!("$a='{}';{}", "x".repeat(50_000), "f $a;".repeat(10_000));
    assert!(!survey(&repeated).opacities.is_empty());
    let nested = (0..60).fold("rm x".to_owned(), |text, _| format!("iex ({text})"));
    assert!(!survey(&nested).opacities.is_empty());
}

#[test]
fn every_cut_of_a_text_is_read_without_panic() {
    let text = "foreach ($f in @(ls \"a $(gi 'b') c\")) { try { [IO.File]::Delete(@{ x = $f.Name }[0]) } \
        catch { iex 'cmd /c \"del ^x %y% & for %i in (''z'') do rd\"' } } @'\nq\n'@ -join \u{2018}é\u{2019}";
    for (end, _) in text.char_indices() {
        let (head, tail) = text.split_at(end);
        let found = survey(head).commands.len() + survey(tail).commands.len();
        assert!(found <= 2 * text.len(), "{head}");
    }
}
