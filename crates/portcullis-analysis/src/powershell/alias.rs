//! PowerShell's own aliases and the canonical names of commands.

/// The aliases PowerShell defines itself, on any system or version, in order.
const ALIASES: &[(&str, &str)] = &[
    ("%", "foreach-object"),
    ("?", "where-object"),
    ("ac", "add-content"),
    ("asnp", "add-pssnapin"),
    ("cat", "get-content"),
    ("cd", "set-location"),
    ("chdir", "set-location"),
    ("clc", "clear-content"),
    ("clear", "clear-host"),
    ("clhy", "clear-history"),
    ("cli", "clear-item"),
    ("clp", "clear-itemproperty"),
    ("cls", "clear-host"),
    ("clv", "clear-variable"),
    ("cnsn", "connect-pssession"),
    ("compare", "compare-object"),
    ("copy", "copy-item"),
    ("cp", "copy-item"),
    ("cpi", "copy-item"),
    ("cpp", "copy-itemproperty"),
    ("curl", "invoke-webrequest"),
    ("cvpa", "convert-path"),
    ("dbp", "disable-psbreakpoint"),
    ("del", "remove-item"),
    ("diff", "compare-object"),
    ("dir", "get-childitem"),
    ("dnsn", "disconnect-pssession"),
    ("ebp", "enable-psbreakpoint"),
    ("echo", "write-output"),
    ("epal", "export-alias"),
    ("epcsv", "export-csv"),
    ("epsn", "export-pssession"),
    ("erase", "remove-item"),
    ("etsn", "enter-pssession"),
    ("exsn", "exit-pssession"),
    ("fc", "format-custom"),
    ("fhx", "format-hex"),
    ("fl", "format-list"),
    ("foreach", "foreach-object"),
    ("ft", "format-table"),
    ("fw", "format-wide"),
    ("gal", "get-alias"),
    ("gbp", "get-psbreakpoint"),
    ("gc", "get-content"),
    ("gcb", "get-clipboard"),
    ("gci", "get-childitem"),
    ("gcim", "get-ciminstance"),
    ("gcm", "get-command"),
    ("gcs", "get-pscallstack"),
    ("gdr", "get-psdrive"),
    ("ghy", "get-history"),
    ("gi", "get-item"),
    ("gin", "get-computerinfo"),
    ("gjb", "get-job"),
    ("gl", "get-location"),
    ("gm", "get-member"),
    ("gmo", "get-module"),
    ("gp", "get-itemproperty"),
    ("gps", "get-process"),
    ("gpv", "get-itempropertyvalue"),
    ("group", "group-object"),
    ("gsn", "get-pssession"),
    ("gsnp", "get-pssnapin"),
    ("gsv", "get-service"),
    ("gtz", "get-timezone"),
    ("gu", "get-unique"),
    ("gv", "get-variable"),
    ("gwmi", "get-wmiobject"),
    ("h", "get-history"),
    ("history", "get-history"),
    ("icim", "invoke-cimmethod"),
    ("icm", "invoke-command"),
    ("iex", "invoke-expression"),
    ("ihy", "invoke-history"),
    ("ii", "invoke-item"),
    ("ipal", "import-alias"),
    ("ipcsv", "import-csv"),
    ("ipmo", "import-module"),
    ("ipsn", "import-pssession"),
    ("irm", "invoke-restmethod"),
    ("ise", "powershell_ise"),
    ("iwmi", "invoke-wmimethod"),
    ("iwr", "invoke-webrequest"),
    ("kill", "stop-process"),
    ("lp", "out-printer"),
    ("ls", "get-childitem"),
    ("man", "get-help"),
    ("md", "new-item"),
    ("measure", "measure-object"),
    ("mi", "move-item"),
    ("mkdir", "new-item"),
    ("mount", "new-psdrive"),
    ("move", "move-item"),
    ("mp", "move-itemproperty"),
    ("mv", "move-item"),
    ("nal", "new-alias"),
    ("ncim", "new-ciminstance"),
    ("ndr", "new-psdrive"),
    ("ni", "new-item"),
    ("nmo", "new-module"),
    ("npssc", "new-pssessionconfigurationfile"),
    ("nsn", "new-pssession"),
    ("nv", "new-variable"),
    ("ogv", "out-gridview"),
    ("oh", "out-host"),
    ("popd", "pop-location"),
    ("ps", "get-process"),
    ("pushd", "push-location"),
    ("pwd", "get-location"),
    ("r", "invoke-history"),
    ("rbp", "remove-psbreakpoint"),
    ("rcim", "remove-ciminstance"),
    ("rcjb", "receive-job"),
    ("rcsn", "receive-pssession"),
    ("rd", "remove-item"),
    ("rdr", "remove-psdrive"),
    ("ren", "rename-item"),
    ("ri", "remove-item"),
    ("rjb", "remove-job"),
    ("rm", "remove-item"),
    ("rmdir", "remove-item"),
    ("rmo", "remove-module"),
    ("rni", "rename-item"),
    ("rnp", "rename-itemproperty"),
    ("rp", "remove-itemproperty"),
    ("rsn", "remove-pssession"),
    ("rsnp", "remove-pssnapin"),
    ("rujb", "resume-job"),
    ("rv", "remove-variable"),
    ("rvpa", "resolve-path"),
    ("rwmi", "remove-wmiobject"),
    ("sajb", "start-job"),
    ("sal", "set-alias"),
    ("saps", "start-process"),
    ("sasv", "start-service"),
    ("sbp", "set-psbreakpoint"),
    ("sc", "set-content"),
    ("scb", "set-clipboard"),
    ("scim", "set-ciminstance"),
    ("select", "select-object"),
    ("set", "set-variable"),
    ("shcm", "show-command"),
    ("si", "set-item"),
    ("sl", "set-location"),
    ("sleep", "start-sleep"),
    ("sls", "select-string"),
    ("sort", "sort-object"),
    ("sp", "set-itemproperty"),
    ("spjb", "stop-job"),
    ("spps", "stop-process"),
    ("spsv", "stop-service"),
    ("start", "start-process"),
    ("stz", "set-timezone"),
    ("sujb", "suspend-job"),
    ("sv", "set-variable"),
    ("swmi", "set-wmiinstance"),
    ("tee", "tee-object"),
    ("trcm", "trace-command"),
    ("type", "get-content"),
    ("wget", "invoke-webrequest"),
    ("where", "where-object"),
    ("wjb", "wait-job"),
    ("write", "write-output"),
];

/// Namespaces and types that may be written without `System.` before them.
const SYSTEM: &[&str] = &[
    "activator",
    "appdomain",
    "array",
    "bitconverter",
    "codedom",
    "collections",
    "componentmodel",
    "configuration",
    "console",
    "convert",
    "data",
    "delegate",
    "diagnostics",
    "directoryservices",
    "drawing",
    "environment",
    "gc",
    "globalization",
    "identitymodel",
    "io",
    "linq",
    "management",
    "math",
    "media",
    "net",
    "reflection",
    "resources",
    "runtime",
    "security",
    "serviceprocess",
    "text",
    "threading",
    "web",
    "windows",
    "xml",
];

/// Short names PowerShell gives to types.
const ACCELERATORS: &[(&str, &str)] = &[
    ("powershell", "system.management.automation.powershell"),
    ("psobject", "system.management.automation.psobject"),
    ("regex", "system.text.regularexpressions.regex"),
    ("runspacefactory", "system.management.automation.runspaces.runspacefactory"),
    ("scriptblock", "system.management.automation.scriptblock"),
    ("wmi", "system.management.managementobject"),
    ("wmiclass", "system.management.managementclass"),
    ("wmisearcher", "system.management.managementobjectsearcher"),
];

/// Returns what an alias of PowerShell stands for. The name is in lower case.
pub(super) fn alias_of(name: &str) -> Option<&'static str> {
    let index = ALIASES.binary_search_by(|(alias, _)| (*alias).cmp(name)).ok()?;
    ALIASES.get(index).map(|(_, command)| *command)
}

/// Returns a command's canonical name: lower case, no directory or module, no extension of a program, no
/// alias.
pub(super) fn canonical_name(written: &str) -> String {
    let lower = written.trim().to_lowercase();
    let bare = without_extension(base(&lower));
    // A path or an extension names a program, and a program has no alias: `curl.exe` is curl.
    if bare.len() != lower.len() {
        return bare.to_owned();
    }
    alias_of(bare).unwrap_or(bare).to_owned()
}

/// Returns a file's name without its directory, whichever slash is used.
pub(super) fn base(path: &str) -> &str {
    path.rsplit(['\\', '/']).find(|part| !part.is_empty()).unwrap_or(path)
}

/// Drops the extension of a program.
pub(super) fn without_extension(name: &str) -> &str {
    [".exe", ".cmd", ".bat", ".com"]
        .iter()
        .find_map(|extension| name.strip_suffix(extension))
        .filter(|bare| !bare.is_empty())
        .unwrap_or(name)
}

/// Returns a type's canonical name: lower case, no blanks, with its namespace.
pub(super) fn canonical_type(written: &str) -> String {
    let lower: String = written.chars().filter(|letter| !letter.is_whitespace()).collect();
    let lower = lower.to_lowercase();
    if let Some((_, full)) = ACCELERATORS.iter().find(|(short, _)| *short == lower) {
        return (*full).to_owned();
    }
    let first = lower.split(['.', '[']).next().unwrap_or_default();
    if SYSTEM.contains(&first) { format!("system.{lower}") } else { lower }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_aliases_are_in_order_and_have_no_alias_themselves() {
        assert!(ALIASES.is_sorted_by(|left, right| left.0 < right.0));
        for (alias, command) in ALIASES {
            assert_eq!(alias_of(command), None, "{alias}");
        }
    }

    #[test]
    fn a_program_with_extension_is_no_alias() {
        assert_eq!(canonical_name("curl"), "invoke-webrequest");
        assert_eq!(canonical_name("CURL.EXE"), "curl");
        assert_eq!(canonical_name(r"C:\Windows\System32\sc.exe"), "sc");
        assert_eq!(canonical_name(r"Microsoft.PowerShell.Management\Remove-Item"), "remove-item");
    }

    #[test]
    fn a_type_is_named_with_its_namespace() {
        assert_eq!(canonical_type("Net.WebClient"), "system.net.webclient");
        assert_eq!(canonical_type("System.Net.WebClient"), "system.net.webclient");
        assert_eq!(canonical_type("Convert"), "system.convert");
        assert_eq!(canonical_type("char[]"), "char[]");
    }
}
