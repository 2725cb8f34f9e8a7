//! Which traces are kept: the samplers that the OpenTelemetry variables name.

use super::super::TraceParent;

/// How it is decided whether a trace is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sampler {
    /// Whether the caller's own decision counts, if there is one.
    is_parent_based: bool,
    root: Root,
}

/// How it is decided for a trace that begins here.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Root {
    Always,
    Never,
    /// Those whose id is below this bound, out of 2^63.
    Below(u64),
}

impl Default for Sampler {
    fn default() -> Self {
        Self { is_parent_based: true, root: Root::Always }
    }
}

impl Sampler {
    /// Reads the name of a sampler and its argument. What is not understood is said, and everything is kept.
    pub(super) fn parse(name: Option<&str>, argument: Option<&str>) -> (Self, Option<String>) {
        let Some(name) = name else { return (Self::default(), None) };
        let name = name.trim();
        let (is_parent_based, root) = match name.strip_prefix("parentbased_") {
            Some(root) => (true, root),
            None => (false, name),
        };
        match root {
            "always_on" => (Self { is_parent_based, root: Root::Always }, None),
            "always_off" => (Self { is_parent_based, root: Root::Never }, None),
            "traceidratio" => {
                let ratio = argument.map_or(Ok(1.0), |text| text.trim().parse::<f64>());
                match ratio {
                    Ok(ratio) if (0.0..=1.0).contains(&ratio) => {
                        (Self { is_parent_based, root: Root::of_ratio(ratio) }, None)
                    }
                    _ => {
                        let note = "OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1: all traces are kept";
                        (Self { is_parent_based, root: Root::Always }, Some(note.to_owned()))
                    }
                }
            }
            _ => {
                let note = "OTEL_TRACES_SAMPLER names no sampler that is known here: all traces are kept";
                (Self::default(), Some(note.to_owned()))
            }
        }
    }

    /// Says whether a trace is kept.
    pub(super) fn keeps(self, trace: [u8; 16], parent: Option<TraceParent>) -> bool {
        match (parent, self.root) {
            (Some(parent), _) if self.is_parent_based => parent.is_sampled,
            (_, Root::Always) => true,
            (_, Root::Never) => false,
            (_, Root::Below(bound)) => {
                let low = u128::from_be_bytes(trace) & u128::from(u64::MAX);
                low >> 1 < u128::from(bound)
            }
        }
    }
}

impl Root {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the ratio is between 0 and 1, so the product is between 0 and 2^63"
    )]
    fn of_ratio(ratio: f64) -> Self {
        if ratio >= 1.0 { Self::Always } else { Self::Below((ratio * 9_223_372_036_854_775_808.0) as u64) }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::super::ids::Ids;
    use super::*;

    fn parent(is_sampled: bool) -> TraceParent {
        TraceParent { trace: [1; 16], span: [1; 8], is_sampled }
    }

    #[test]
    fn each_name_is_the_sampler_that_others_know_by_it() {
        let kept = |name: &str, argument: Option<&str>| {
            let (sampler, note) = Sampler::parse(Some(name), argument);
            assert_eq!(note, None, "{name}");
            [None, Some(parent(true)), Some(parent(false))].map(|parent| sampler.keeps([1; 16], parent))
        };
        assert_eq!(kept("always_on", None), [true, true, true]);
        assert_eq!(kept("always_off", None), [false, false, false]);
        assert_eq!(kept("parentbased_always_on", None), [true, true, false]);
        assert_eq!(kept("parentbased_always_off", None), [false, true, false]);
        assert_eq!(kept("traceidratio", Some("0")), [false, false, false]);
        assert_eq!(kept("traceidratio", None), [true, true, true]);
        assert_eq!(kept("parentbased_traceidratio", Some("0")), [false, true, false]);
        assert_eq!(Sampler::parse(None, Some("0")).0, Sampler::default());
    }

    #[test]
    fn a_ratio_keeps_about_so_many() {
        let (sampler, _) = Sampler::parse(Some("traceidratio"), Some("0.25"));
        let ids = Ids::new();
        let kept = (0..40_000).filter(|_| sampler.keeps(ids.trace(), None)).count();
        assert!((9_000..11_000).contains(&kept), "{kept}");
        let mut edge = [0; 16];
        edge[8] = 0x40;
        assert!(!sampler.keeps(edge, None));
        edge[8] = 0x3f;
        assert!(sampler.keeps(edge, None));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for (name, argument) in
            [("jaeger_remote", None), ("traceidratio", Some("2")), ("traceidratio", Some("NaN"))]
        {
            let (sampler, note) = Sampler::parse(Some(name), argument);
            assert!(note.is_some() && sampler.keeps([1; 16], None), "{name}");
        }
    }
}
