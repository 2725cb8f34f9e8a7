//! What a call costs.

use super::{ModelInfo, ModelPrices, PriceTier};
use crate::tokens::TokenUsage;

impl ModelInfo {
    /// Returns what a call cost in dollars, if the model's prices are known.
    pub fn cost(&self, usage: &TokenUsage) -> Option<f64> {
        self.prices.as_ref().map(|prices| prices.cost(usage))
    }
}

impl ModelPrices {
    fn cost(&self, usage: &TokenUsage) -> f64 {
        let prompt = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        let tier = self.tiers.iter().rev().find(|tier| prompt > tier.above);
        let PriceTier { input, output, .. } =
            tier.copied().unwrap_or(PriceTier { above: 0, input: 1.0, output: 1.0 });
        let read = millions(usage.input) * self.input
            + millions(usage.cache_read) * self.cache_read
            + millions(usage.cache_write) * self.cache_write;
        read * input + millions(usage.output) * self.output * output
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count of tokens beyond 2^53 is nonsense anyway")]
fn millions(tokens: u64) -> f64 {
    tokens as f64 / 1_000_000.0
}

#[cfg(test)]
mod tests {
    use crate::model::{ModelProvider, ModelTable};
    use crate::tokens::TokenUsage;

    fn cost(provider: ModelProvider, id: &str, usage: TokenUsage) -> f64 {
        ModelTable::built_in().find(provider, id).cost(&usage).unwrap()
    }

    fn is_near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn a_typical_call_costs_a_fiftieth_of_a_cent() {
        let usage = TokenUsage { input: 1_500, cache_read: 4_000, cache_write: 0, output: 60 };
        assert!(is_near(cost(ModelProvider::Anthropic, "claude-haiku-5-5", usage), 0.000_22));
        assert!(is_near(cost(ModelProvider::OpenAi, "gpt-6-luna", usage), 0.000_22));
    }

    #[test]
    fn a_prompt_above_the_limit_makes_the_whole_call_dearer() {
        let at_limit = TokenUsage { input: 50_000, cache_read: 40_000, cache_write: 10_000, output: 1_000 };
        let above = TokenUsage { input: 50_001, ..at_limit };
        let haiku = |usage| cost(ModelProvider::Anthropic, "claude-haiku-5-5", usage);
        assert!(is_near(haiku(at_limit), 0.005 + 0.000_4 + 0.001_25 + 0.000_5));
        assert!(is_near(haiku(above), 5.0 * (0.005_000_1 + 0.000_4 + 0.001_25 + 0.000_5)));
        let long = TokenUsage { input: 272_001, output: 1_000, ..TokenUsage::default() };
        assert!(is_near(cost(ModelProvider::OpenAi, "gpt-6-luna", long), 2.0 * 0.027_200_1 + 1.5 * 0.000_5));
    }

    #[test]
    fn unknown_prices_give_no_cost_and_absurd_usage_no_panic() {
        let table = ModelTable::built_in();
        assert_eq!(table.find(ModelProvider::Ollama, "qwen3").cost(&TokenUsage::default()), None);
        let most =
            TokenUsage { input: u64::MAX, cache_read: u64::MAX, cache_write: u64::MAX, output: u64::MAX };
        assert!(cost(ModelProvider::OpenAi, "gpt-6-luna", most).is_finite());
    }
}
