//! Which models an agent offers when a conversation opens, and whether one of them is meant.

use serde_json::Value;

/// Models as an agent offers them: session options of the category (or with the id) `model`, and the older list.
#[derive(Debug, Default)]
pub(super) struct Offer<'v> {
    /// Ids of the options that choose a model.
    options: Vec<&'v str>,
    /// Each model: its value, and its name if it has one.
    models: Vec<(&'v str, Option<&'v str>)>,
}

impl<'v> Offer<'v> {
    /// What the result of an opening offers.
    pub(super) fn of(result: &'v Value) -> Self {
        let mut offer = Self::default();
        let options = result.get("configOptions").and_then(Value::as_array);
        for option in options.into_iter().flatten() {
            let text = |key| option.get(key).and_then(Value::as_str);
            if text("category") == Some("model") || text("id") == Some("model") {
                offer.options.extend(text("id"));
                offer.take(option.get("options"), "value");
            }
        }
        offer.take(result.pointer("/models/availableModels"), "modelId");
        offer
    }

    /// Takes the choices of a list, grouped ones as well.
    fn take(&mut self, list: Option<&'v Value>, key: &str) {
        for choice in list.and_then(Value::as_array).into_iter().flatten() {
            let text = |key| choice.get(key).and_then(Value::as_str);
            self.models.extend(text(key).map(|value| (value, text("name"))));
            self.take(choice.get("options"), key);
        }
    }

    /// Whether there is any model to choose.
    pub(super) fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// Whether the model is among them, by its value or its name (reading 36).
    pub(super) fn has(&self, model: &str) -> bool {
        self.models
            .iter()
            .any(|(value, name)| *value == model || *name == Some(model))
    }

    /// Whether this text in a call asks for the model.
    pub(super) fn means(&self, text: &str, model: &str) -> bool {
        text == model
            || self
                .models
                .iter()
                .any(|(value, name)| *name == Some(model) && (*value == text || *name == Some(text)))
    }

    /// Whether the option of that id chooses a model. Where none is known, any may.
    pub(super) fn may_be_chosen_by(&self, option: Option<&str>) -> bool {
        self.options.is_empty() || option.is_none_or(|option| self.options.contains(&option))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn grouped_options_count_by_value_and_by_name() {
        let result = json!({"configOptions": [
            {"id": "effort", "category": "thought_level", "options": [{"value": "high", "name": "High"}]},
            {"id": "llm", "category": "model", "options": [
                {"group": "g", "name": "G", "options": [{"value": "[\"p\",\"flash\"]", "name": "Flash"}]},
                {"value": "pro"}]}]});
        let offer = Offer::of(&result);
        assert!(offer.has("Flash") && offer.has("pro") && !offer.has("High") && !offer.has("G"));
        assert!(offer.means("[\"p\",\"flash\"]", "Flash"));
        assert!(!offer.means("pro", "Flash"));
        assert!(offer.may_be_chosen_by(Some("llm")) && !offer.may_be_chosen_by(Some("effort")));
    }

    #[test]
    fn the_older_list_counts_too() {
        let result = json!({"models": {"availableModels": [{"modelId": "m-1", "name": "One"}]}});
        let offer = Offer::of(&result);
        assert!(offer.has("One") && offer.means("m-1", "One"));
        assert!(Offer::of(&Value::Null).is_empty());
        assert!(Offer::of(&json!({"configOptions": 3, "models": []})).is_empty());
    }
}
