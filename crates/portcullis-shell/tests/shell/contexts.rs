//! Short texts in which one expansion is put into every kind of quoting and bracket: where a parser that reads once and
//! a shell that reads twice come apart.

/// Where the pieces go; `%` stands for them.
const CONTEXTS: &[&str] = &[
    "echo \"${x:-%}\"",
    "echo ${x:-%}",
    "echo \"a%b\"",
    "echo $((1+%))",
    "echo \"$((1+%))\"",
    "k0 <<E\n%\nE",
    "k0 <<E\n${x:-%}\nE",
    "k0 <<E\n$((%))\nE",
    "k0 <<E\n${a[%]}\nE",
    "k0 <<E\n`echo %`\nE",
    "k0 <<-E\n\t%\n\tE\n",
    "a[%]=1",
    "echo `echo %`",
    "echo \"`echo %`\"",
    "echo $(echo %)",
    "echo \"$(echo %)\"",
    "[[ a == % ]]",
    "[[ a =~ % ]]",
    "[[ \"%\" == a ]]",
    "case a in %) ;; esac",
    "(( 1+% ))",
    "x=a; echo \"${x#%}\"",
    "x=a; echo \"${x/%/b}\"",
    "x=a; echo ${x#%}",
    "x=a; echo ${x/%/b}",
    "x=a; echo \"${x^^%}\"",
    "echo $[1+%]",
    "echo \"$[1+%]\"",
    "x=(%)",
    "y=([%]=1)",
    "declare y=(%)",
    "echo <(echo %)",
    "for v in %; do :; done",
    "for ((i=%;i<1;i++)); do break; done",
    "echo \"${x:-`echo %`}\"",
    "echo \"$(k0 <<E\n%\nE\n)\"",
    "x=abc; echo \"${x:%}\"",
    "x=abc; echo ${x:%}",
    "x=abc; echo ${x:1:%}",
    "echo \"${a[%]}\"",
    "echo ${a[%]}",
    "echo ${#a[%]}",
    "echo ${!a[%]}",
    "echo \"${a[\"%\"]}\"",
    "echo %",
    "k0 <<<%",
    "echo \"${x:-$(echo \"%\")}\"",
    "echo $'a'%",
    "echo ${x:=%}",
    "x=1; echo \"${x:+%}\"",
    "export v=%",
    "v+=%",
    "f() { echo %; }; f",
    "echo $( (echo %) )",
    "((echo %) || (echo %))",
];

const PIECES: &[&str] = &[
    "$", "(", "k1", ")", "$(k1)", "\"", "'", "\\", "`", "`k1`", "{", "}", "${y:-", "a", " ", "$x", "\\\"",
    "\\'", "\\$", "\\\\", "$(", "$((", "))", "1+", "\n", "[", "]", "$'", "$\"", "x", "}", "\\\n", ";", "#",
    "<(k1)", "E",
];

/// Makes the text of `seed`.
pub(crate) fn text(seed: u64) -> String {
    let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).expect("31 bits fit") % limit
    };
    let context = CONTEXTS[below(CONTEXTS.len())];
    let count = 1 + below(7);
    let pieces: String = (0..count).map(|_| PIECES[below(PIECES.len())]).collect();
    context.replace('%', &pieces)
}
