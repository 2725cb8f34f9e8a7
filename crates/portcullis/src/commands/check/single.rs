//! One call, answered for a person or as one JSON object.

use std::time::Instant;

use portcullis_core::{Explanation, Verdict, explain};

use super::arguments::CheckArgs;
use super::remedy;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::judge::{judge, prepare};
use crate::output::explanation;
use crate::output::human::{self, TraceDetail};
use crate::output::json;
use crate::session::Session;
use crate::terminal::print;
use crate::world::World;

/// Answers one call.
pub(crate) fn run(arguments: &CheckArgs) -> Result<ExitCode, Failure> {
    let call = arguments.call()?;
    let session = Session::open(&arguments.session)?;
    session.warn();
    let mut context = session.context(arguments.mode, arguments.person(), &arguments.add_dir);
    arguments.tell(&mut context);
    let mut world = World::default();
    let start = Instant::now();
    let verdict = judge(session.policy(), call.clone(), context.clone(), &mut world)?;
    let elapsed = start.elapsed();
    let explained = arguments.explain.then(|| {
        let (request, facts) = prepare(session.policy(), call.clone(), context.clone(), &mut world);
        explain(session.policy(), &request, &facts)
    });
    let text = if arguments.form.json {
        as_json(&verdict, elapsed.as_micros(), explained.as_ref())
    } else {
        let detail = if arguments.form.trace { TraceDetail::Every } else { TraceDetail::Spoken };
        let remedies = remedy::remedies(&session, &call, &context, &verdict, &mut world);
        let explained = explained.as_ref().map(explanation::for_people).unwrap_or_default();
        human::verdict(&call, &verdict, detail, &remedies) + &explained
    };
    print(&text)?;
    Ok(verdict.decision.into())
}

fn as_json(verdict: &Verdict, elapsed_us: u128, explained: Option<&Explanation>) -> String {
    let mut line = String::new();
    json::write_verdict(&mut line, verdict, elapsed_us);
    if let Some(explained) = explained {
        explanation::add_field(&mut line, explained);
    }
    line.push('\n');
    line
}
