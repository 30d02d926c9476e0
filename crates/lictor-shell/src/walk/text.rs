//! Analyses a whole text: chooses its dialect, and handles text that no shell parses.

use lictor_core::facts::{Effect, OpaqueWhat, ProcessEffect};

use super::{MAX_DEPTH, MOST_OF_LARGE, Output, READ_OF_LARGE, Scene, Walker};
use crate::operand::Taint;
use crate::parser;

impl Walker<'_> {
    /// Parses the end of a text whose middle was skipped: it runs last.
    pub(super) fn tail(&mut self, text: &str, scene: Scene) {
        self.most = MOST_OF_LARGE;
        let from = text.len().saturating_sub(READ_OF_LARGE);
        let line = text
            .as_bytes()
            .get(from..)
            .and_then(|tail| memchr::memchr(b'\n', tail))
            .map_or(from, |at| from + at);
        let tail = (line..text.len()).find_map(|at| text.get(at..)).unwrap_or_default();
        self.text(tail, Scene { certain: false, ..scene });
    }

    /// Reads and walks a text in the current state.
    pub(crate) fn text(&mut self, text: &str, scene: Scene) -> Output {
        if self.depth >= MAX_DEPTH || !self.spend(text.len() as u64) {
            self.over_limit("commands nested too deep");
            return Output::unknown();
        }
        // Shells drop NUL bytes; no honest command has one.
        let cleaned = text.contains('\0').then(|| text.replace('\0', ""));
        if cleaned.is_some() {
            self.opaque(OpaqueWhat::Syntax, "a NUL byte");
        }
        let text = cleaned.as_deref().unwrap_or(text);
        let bare = crate::dialect::without_recipe_mark(text);
        let marked = bare.len() < text.trim_start().len();
        let text = bare;
        let filled = crate::dialect::recipe(text, marked);
        let text = filled.as_deref().unwrap_or(text);
        // Known or not: who hides a command from readers does not get it run.
        if self.decoded.iter().any(|hidden| !hidden.is_empty() && text.contains(hidden.as_str())) {
            self.flow_into_shell(Taint { decoded: true, ..Taint::default() }, text);
        }
        let depth = self.depth.min(parser::MAX_DEPTH / 2);
        let mut parsed = parser::parse(text, depth);
        let page = parsed.fault.syntax.and_then(|_| {
            let shown = crate::dialect::without_prompts(text);
            let filled = crate::dialect::placeholders(shown.as_deref().unwrap_or(text));
            filled.or(shown)
        });
        if let Some(page) = &page {
            parsed = parser::parse(page, depth);
        }
        let text = page.as_deref().unwrap_or(text);
        if parsed.fault.depth {
            self.over_limit("constructs nested too deep");
        }
        if parsed.fault.length {
            self.over_limit("more commands than can be followed");
            self.cut = true;
        }
        let here = !self.reads_another_language();
        let open = parsed.fault.unclosed.is_some();
        self.reading.refused |= here && parsed.fault.syntax.is_some();
        let fault = parsed.fault.strange.filter(|_| here);
        if let Some(at) = fault.filter(|at| open || crate::dialect::names_program(text, *at)) {
            let shown: String = text.get(at..).unwrap_or_default().chars().take(60).collect();
            self.opaque(OpaqueWhat::Syntax, if shown.is_empty() { text } else { &shown });
        }
        if text.contains("$0") && crate::forkbomb::restarts(&parsed.script) {
            self.effect(Effect::Process(ProcessEffect::ForkBomb));
        }
        self.depth += 1;
        let output = self.list(&parsed.script, scene);
        if let Some(open) = parsed.fault.unclosed {
            // The shell would refuse all of it. The text after the open quote is analysed as if the quote were
            // absent.
            let rest = text.get(open..).unwrap_or_default();
            let rest = rest.trim_start_matches(['\'', '"', '$', '`', '(', '{']);
            let again = parser::parse(rest, self.depth);
            if self.spend(rest.len() as u64) {
                self.list(&again.script, Scene { certain: false, attributable: false, capture: false });
            }
        }
        let is_open =
            |at: usize| at > 0 && matches!(text.as_bytes().get(at - 1), Some(b'*' | b'?' | b']' | b'~'));
        let patterns = fault.is_some() || memchr::memchr_iter(b'(', text.as_bytes()).any(is_open);
        let code = if patterns { crate::dialect::qualifier_code(text) } else { Vec::new() };
        for code in code {
            self.text(&code, Scene { certain: false, attributable: false, capture: false });
        }
        self.depth -= 1;
        output
    }

    /// Whether the text is for another shell, or is terminal input: syntax errors mean nothing, clear danger
    /// still counts.
    fn reads_another_language(&self) -> bool {
        self.through.last().is_some_and(|outer| {
            matches!(
                outer.as_str(),
                "pwsh"
                    | "cmd"
                    | "tmux"
                    | "screen"
                    | "zellij"
                    | "expect"
                    | "zsh -c"
                    | "fish -c"
                    | "nu -c"
                    | "xonsh -c"
                    | "elvish -c"
                    | "csh -c"
                    | "tcsh -c"
            )
        })
    }

    /// Whether words in the place of a program may be none (`$x = 1`, `>>> f()`).
    pub(crate) fn may_be_no_command(&self) -> bool {
        self.through.last().is_some_and(|outer| {
            matches!(outer.as_str(), "pwsh" | "nu -c" | "tmux" | "screen" | "zellij" | "expect")
        })
    }
}
