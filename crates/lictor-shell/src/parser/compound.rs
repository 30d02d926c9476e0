//! Compound commands: groups, conditions, loops, functions, tests.

use std::rc::Rc;

use super::Parser;
use super::word::Within;
use crate::ast::{CaseArm, Compound, Node, Part, Script, Word};

impl Parser<'_> {
    /// A compound command with its redirections, if one starts here.
    pub(super) fn compound(&mut self) -> Option<Node> {
        if self.peek() == Some(b'(') {
            let body = if self.peek_at(1) == Some(b'(') && self.arithmetic_closes(self.at + 2) {
                self.deeper(|this| {
                    this.at += 2;
                    let parts = this.parts(Within::Arithmetic);
                    this.note_arithmetic(&parts);
                    Some(Compound::Arithmetic(parts))
                })
            } else {
                self.deeper(|this| {
                    this.at += 1;
                    let script = this.some_list();
                    if !this.eat(")") {
                        this.expected_more();
                    }
                    Some(Compound::Subshell(script))
                })
            };
            return Some(self.with_redirects(body));
        }
        let word = self.reserved()?;
        let read: fn(&mut Self) -> Option<Compound> = match word {
            "{" => Self::group,
            "if" => Self::condition,
            "while" => |this: &mut Self| this.while_loop(false),
            "until" => |this: &mut Self| this.while_loop(true),
            "for" | "select" => Self::for_loop,
            "case" => Self::case,
            "[[" => Self::test,
            "coproc" => Self::coprocess,
            "function" => {
                self.at += word.len();
                return Some(self.deeper(|this| Some(this.function_keyword())).unwrap_or_else(empty));
            }
            _ => return None,
        };
        self.at += word.len();
        let body = self.deeper(read);
        Some(self.with_redirects(body))
    }

    fn with_redirects(&mut self, body: Option<Compound>) -> Node {
        let body = Rc::new(body.unwrap_or_else(|| Compound::Group(Script::default())));
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            let Some(redirect) = self.redirect() else { break };
            redirects.push(redirect);
        }
        Node::Compound { body, redirects }
    }

    /// A list that must not be empty.
    fn some_list(&mut self) -> Script {
        let script = self.list();
        if script.items.is_empty() {
            self.expected_more();
        }
        script
    }

    fn group(&mut self) -> Option<Compound> {
        let script = self.some_list();
        self.expect_reserved("}");
        Some(Compound::Group(script))
    }

    fn condition(&mut self) -> Option<Compound> {
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.some_list();
            self.expect_reserved("then");
            let body = self.some_list();
            arms.push((condition, body));
            self.blank_lines();
            if self.eat_reserved("elif") {
                continue;
            }
            if self.eat_reserved("else") {
                otherwise = Some(self.some_list());
            }
            self.expect_reserved("fi");
            return Some(Compound::If { arms, otherwise });
        }
    }

    fn loop_body(&mut self) -> Script {
        self.blank_lines();
        if self.eat_reserved("{") {
            let body = self.some_list();
            self.expect_reserved("}");
            return body;
        }
        self.expect_reserved("do");
        let body = self.some_list();
        self.expect_reserved("done");
        body
    }

    fn while_loop(&mut self, until: bool) -> Option<Compound> {
        let ((condition, body), changes) = self.tracked(|this| {
            let condition = this.some_list();
            (condition, this.loop_body())
        });
        Some(Compound::While { until, condition, body, changes })
    }

    fn for_loop(&mut self) -> Option<Compound> {
        self.blanks();
        if self.looking_at("((") {
            let ((header, body), changes) = self.tracked(|this| {
                this.at += 2;
                let header = this.parts(Within::Arithmetic);
                this.note_arithmetic(&header);
                this.blanks();
                this.eat(";");
                (header, this.loop_body())
            });
            return Some(Compound::CountingFor { header, body, changes });
        }
        let word = if self.word_starts() { self.word() } else { Word::default() };
        let Some(name) = word.literal().map(str::to_owned) else {
            self.expected_more();
            return None;
        };
        self.assigned.push(name.clone());
        self.blank_lines();
        let mut words = None;
        if self.rest().starts_with(b"in")
            && !self.peek_at(2).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            self.at += 2;
            words = Some(self.words());
        }
        self.blanks();
        self.eat(";");
        let (body, changes) = self.tracked(Self::loop_body);
        Some(Compound::For { name, words, body, changes })
    }

    /// Words up to the end of the command.
    fn words(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            if !self.word_starts() {
                return words;
            }
            words.push(self.word());
        }
    }

    fn case(&mut self) -> Option<Compound> {
        self.blanks();
        let subject = self.value_word();
        self.blank_lines();
        if !self.eat("in") {
            self.expected_more();
        }
        let mut arms = Vec::new();
        loop {
            self.blank_lines();
            if self.eat_reserved("esac") {
                break;
            }
            if self.at_end() {
                self.expected_more();
                break;
            }
            let before = self.at;
            self.eat("(");
            let mut patterns = Vec::new();
            loop {
                self.blanks();
                if self.word_starts() {
                    patterns.push(self.word());
                }
                self.blanks();
                if !self.eat("|") {
                    break;
                }
            }
            if !self.eat(")") {
                self.expected_more();
            }
            let body = self.list();
            arms.push(CaseArm { patterns, body });
            self.blank_lines();
            if !(self.eat(";;&") || self.eat(";;") || self.eat(";&")) && self.reserved() != Some("esac") {
                self.expected_more();
                if self.at == before {
                    self.skip_token();
                }
            }
        }
        Some(Compound::Case { subject, arms })
    }

    /// `[[ … ]]`.
    fn test(&mut self) -> Option<Compound> {
        let mut words = Vec::new();
        let mut regex = false;
        loop {
            self.blank_lines();
            if self.at_end() {
                self.expected_more();
                break;
            }
            if self.looking_at("]]") {
                self.at += 2;
                break;
            }
            let regular = std::mem::take(&mut regex);
            if regular || self.word_starts() {
                let before = self.at;
                let word = if regular { self.regex_word() } else { self.word() };
                regex = matches!(word.parts.as_slice(), [Part::Literal(text)] if text == "=~");
                words.push(word);
                if self.at == before {
                    self.wrong();
                    self.at += self.character();
                }
            } else {
                // `&&`, `||`, `(`, `)`, `<`, `>`.
                match self.peek() {
                    Some(b'&' | b'|') => {
                        if !(self.eat("&&") || self.eat("||")) {
                            self.wrong();
                            self.at += 1;
                        }
                    }
                    Some(b';') => {
                        self.wrong();
                        break;
                    }
                    _ => self.at += 1,
                }
            }
        }
        Some(Compound::Test(words))
    }

    fn coprocess(&mut self) -> Option<Compound> {
        let unnamed = || "COPROC".to_owned();
        self.blanks();
        // `coproc NAME { …; }` names it; a name in front of a simple command is the command.
        if let Some(body) = self.compound() {
            return Some(Compound::Coprocess { name: unnamed(), body });
        }
        let before = self.at;
        let name = super::name_prefix(self.slice(self.at, self.bytes.len())).to_owned();
        self.at += name.len();
        self.blanks();
        if self.at > before
            && let Some(body) = self.compound()
        {
            return Some(Compound::Coprocess { name, body });
        }
        self.at = before;
        Some(Compound::Coprocess { name: unnamed(), body: self.simple() })
    }

    fn function_keyword(&mut self) -> Node {
        self.blanks();
        let word = if self.word_starts() { self.word() } else { Word::default() };
        let Some(name) = word.literal().map(str::to_owned) else {
            self.wrong();
            return empty();
        };
        self.blanks();
        if self.eat("(") {
            self.blanks();
            if !self.eat(")") {
                self.wrong();
            }
        }
        self.function_body(name)
    }
}

fn empty() -> Node {
    Node::Compound { body: Rc::new(Compound::Group(Script::default())), redirects: Vec::new() }
}
