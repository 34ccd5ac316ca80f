//! Finding the seat's declared model among what the agent offers when a conversation opens.
//!
//! Agents offer models in two ways: as a session option of the category (or id) `model`, the protocol's way,
//! or as an older list of `models`. A declared model may be the offered value or its name. What is not
//! offered is not sent.

use serde_json::Value;

/// How to ask for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    /// Set this session option to this value.
    Option { option: String, value: String },
    /// Use the older call with this model.
    Model { id: String },
    /// The agent offers models, and not this one.
    NotAmongOffered,
    /// The agent offers no choice of model.
    NothingOffered,
}

/// Finds `wanted` in the answer to an open or reopen.
pub(super) fn choose(opened: &Value, wanted: &str) -> Choice {
    if let Some(option) = model_option(opened) {
        let id = option["id"].as_str().unwrap_or_default();
        return match offered_value(&option["options"], wanted) {
            Some(value) => Choice::Option {
                option: id.to_owned(),
                value,
            },
            None => Choice::NotAmongOffered,
        };
    }
    let Some(models) = opened["models"]["availableModels"].as_array() else {
        return Choice::NothingOffered;
    };
    find(models.iter(), "modelId", wanted).map_or(Choice::NotAmongOffered, |id| Choice::Model { id })
}

/// The option of the category `model`, else the one with that id.
fn model_option(opened: &Value) -> Option<&Value> {
    let options = opened["configOptions"].as_array()?;
    let has_id = |option: &&Value| option["id"].is_string();
    options
        .iter()
        .filter(has_id)
        .find(|option| option["category"] == "model")
        .or_else(|| {
            options
                .iter()
                .filter(has_id)
                .find(|option| option["id"] == "model")
        })
}

/// The value that is wanted, by value or by name. Grouped options count like ungrouped ones.
fn offered_value(options: &Value, wanted: &str) -> Option<String> {
    let options = options.as_array()?;
    let grouped = options
        .iter()
        .filter_map(|group| group["options"].as_array())
        .flatten();
    find(options.iter().chain(grouped), "value", wanted)
}

fn find<'a>(offered: impl Iterator<Item = &'a Value> + Clone, key: &str, wanted: &str) -> Option<String> {
    let mut values = offered.filter_map(|entry| Some((entry[key].as_str()?, entry["name"].as_str())));
    let by_value = values.clone().find(|(value, _)| *value == wanted);
    by_value
        .or_else(|| values.find(|(_, name)| *name == Some(wanted)))
        .map(|(value, _)| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn option(value: &str) -> Choice {
        Choice::Option {
            option: "model".into(),
            value: value.into(),
        }
    }

    #[test]
    fn grouped_options_are_found_by_value_and_by_name() {
        let opened = json!({"configOptions": [
            {"id": "effort", "category": "thought_level", "options": [{"value": "flash", "name": "Flash"}]},
            {"id": "model", "category": "model", "type": "select", "options": [
                {"group": "g", "name": "G", "options": [
                    {"value": "[\"p\",\"flash\"]", "name": "Flash"}, {"value": "Flash", "name": "other"}]},
                {"value": "pro", "name": "Pro"}]}]});
        assert_eq!(choose(&opened, "[\"p\",\"flash\"]"), option("[\"p\",\"flash\"]"));
        assert_eq!(
            choose(&opened, "Flash"),
            option("Flash"),
            "a value goes before a name"
        );
        assert_eq!(choose(&opened, "Pro"), option("pro"));
        assert_eq!(choose(&opened, "G"), Choice::NotAmongOffered);
    }

    #[test]
    fn an_option_counts_by_its_id_if_none_has_the_category() {
        let opened = json!({"configOptions": [{"id": "model", "options": [{"value": "a", "name": "A"}]}]});
        assert_eq!(choose(&opened, "a"), option("a"));
    }

    #[test]
    fn the_older_list_is_used_where_that_is_all_there_is() {
        let models = json!({"availableModels": [{"modelId": "m-1", "name": "One"}]});
        let opened = json!({"configOptions": null, "models": models});
        assert_eq!(choose(&opened, "One"), Choice::Model { id: "m-1".into() });
        assert_eq!(choose(&opened, "Two"), Choice::NotAmongOffered);
    }

    #[test]
    fn no_offer_is_no_offer() {
        for opened in [
            Value::Null,
            json!({}),
            json!({"configOptions": [], "models": null}),
        ] {
            assert_eq!(choose(&opened, "m"), Choice::NothingOffered);
        }
    }
}
