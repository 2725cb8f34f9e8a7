//! Moving money or ordering something.
//!
//! A payment or a booking has a price and cannot be taken back by the tools that made it.
//! Through a tool of an MCP server, which the user has connected for it, it is put to a person and never to a model.
//! Show what would be paid to whom, and let the person do it.
//! Or name the amount and the recipient and say that it is to be paid.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC043",
    name: "real-world-transaction",
    title: "moves money or orders something",
    category: "real_world_txn",
    severity: Severity::Critical,
    firmness: Firmness::Soft {
        verbs: &["pay", "send money", "transfer", "buy", "order", "book", "purchase", "donate"],
        must_name: "what is paid to whom",
    },
    instead: "Show the user the amount and the recipient, and let them pay",
    hits: &[
        ExampleCall::Call("mcp__bank__send_money", &[("recipient", "DE001"), ("amount", "10")]),
        ExampleCall::Call("mcp__shop__purchase_item", &[("id", "12")]),
        ExampleCall::Call("mcp__travel__book_hotel", &[("name", "Sea View")]),
        ExampleCall::Call("mcp__pay__create_payment", &[("amount", "5")]),
        ExampleCall::Call("mcp__bank__transfer", &[("to", "DE001")]),
        ExampleCall::Bash("cast send 0x00000000000000000000000000000000000000aa --value 1ether"),
        ExampleCall::Bash("solana transfer abc 1"),
        ExampleCall::Bash("bitcoin-cli sendtoaddress bc1qabc 0.1"),
        ExampleCall::Call("mcp__shop__checkout", &[("cart", "1")]),
    ],
    misses: &[
        ExampleCall::Call("mcp__bank__list_transactions", &[("account", "1")]),
        ExampleCall::Call("mcp__bank__get_balance", &[("account", "1")]),
        ExampleCall::Call("mcp__shop__search", &[("query", "shoes")]),
        ExampleCall::Bash("bitcoin-cli getblockcount"),
        ExampleCall::Bash("solana balance"),
        ExampleCall::Bash("echo bitcoin-cli sendtoaddress bc1qabc 0.1"),
        ExampleCall::Bash("grep -rn send_money src"),
        ExampleCall::Bash("git commit -m \"Add payment form\""),
        ExampleCall::Bash("cast block latest"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Transact])
        .map(|effect| {
            let is_connected = effect.invocation.is_none() && case.tool.starts_with("mcp__");
            let sentence = match effect.target.written() {
                "" => "it moves money or orders something".to_owned(),
                written if is_connected && !written.starts_with("mcp__") => {
                    format!("it pays or orders {written}, which no tool takes back")
                }
                written => format!("it moves money or orders something: `{written}`"),
            };
            Sighting::of(case, effect, sentence).for_person_if(is_connected)
        })
        .collect()
}
