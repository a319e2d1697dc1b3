//! The words of the live page, in English and Chinese.
//!
//! Must not know: where on the page they stand.

use std::collections::BTreeMap;

/// A language of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tongue {
    English,
    Chinese,
}

impl Tongue {
    /// As pages name it.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// What was asked for by name, else what the browser would rather read.
    pub(super) fn of(asked: Option<&str>, accepted: Option<&str>) -> Self {
        let begins = |text: &str| text.trim().get(..2).map(str::to_ascii_lowercase);
        match asked.and_then(begins).as_deref() {
            Some("zh") => return Self::Chinese,
            Some("en") => return Self::English,
            _ => {}
        }
        let mut wanted = accepted.unwrap_or_default().split(',').filter_map(begins);
        match wanted.find(|code| code == "zh" || code == "en").as_deref() {
            Some("zh") => Self::Chinese,
            _ => Self::English,
        }
    }

    /// All words in it, by name.
    pub(super) fn words(self) -> BTreeMap<&'static str, &'static str> {
        let word = |(name, english, chinese): &(&'static str, &'static str, &'static str)| {
            (*name, if self == Self::English { *english } else { *chinese })
        };
        WORDS.iter().map(word).collect()
    }
}

const WORDS: &[(&str, &str, &str)] = &[
    ("live", "live", "实时"),
    (
        "rehearsal",
        "Rehearsal, not a result: memory and data divided by {}",
        "演练，非测试结果：内存与数据量缩小为 1/{}",
    ),
    ("skip", "Skip to the matrix", "跳到矩阵"),
    ("other_language", "中文", "English"),
    ("progress", "Progress", "进度"),
    ("trials", "trials", "次测试"),
    ("of", "of", "/"),
    ("gone", "elapsed {}", "已用 {}"),
    ("at_least", "at least {} left", "至少还需 {}"),
    ("about", "about {} left", "还需约 {}"),
    ("failed_count", "{} failed", "{} 次失败"),
    ("now", "Now", "当前"),
    ("errors", "Errors in this trial", "本次测试的错误"),
    ("qps", "QPS", "QPS"),
    ("tps", "TPS", "TPS"),
    ("p95", "P95", "P95"),
    ("no_trial", "no trial is under way", "当前没有测试在进行"),
    ("series", "The last minutes", "最近几分钟"),
    ("series_none", "Nothing was measured yet.", "尚无测量数据。"),
    ("highest", "highest", "最高"),
    ("latest", "latest", "最新"),
    ("ago", "{} min ago", "{} 分钟前"),
    ("matrix", "Matrix", "矩阵"),
    (
        "matrix_note",
        "QPS of each cell by concurrency; the highest of a ladder is bold.",
        "各并发数下的 QPS；每组最高者加粗。",
    ),
    ("cells", "Cells of the matrix", "矩阵单元"),
    ("spec", "Specification", "规格"),
    ("core", "core", "核"),
    ("cores", "cores", "核"),
    ("waiting", "waiting", "等待"),
    ("running", "running", "进行中"),
    ("done", "done", "完成"),
    ("failed", "failed", "失败"),
    ("refused", "refused", "不予采信"),
    ("left-out", "left out", "略过"),
    ("skipped", "not measured here", "此处不测"),
    ("no_cell", "no cell", "无此项"),
    ("log", "Log", "日志"),
    ("log_note", "the last 500 events, newest first", "最近 500 条，最新在前"),
    ("step", "step", "步骤"),
    ("notice", "notice", "提示"),
    ("warning", "warning", "警告"),
    ("report", "Report so far", "目前的报告"),
    ("state", "State as JSON", "JSON 状态"),
    ("stop", "Stop the run", "停止运行"),
    (
        "stop_note",
        "Like Ctrl-C: the trial under way ends, what was measured is kept, and --resume \
        goes on. It needs the stop token that was printed when the run began.",
        "等同于 Ctrl-C：当前测试结束，已测结果保留，可用 --resume 继续。需要运行开始时打印的停止令牌。",
    ),
    ("token", "Stop token", "停止令牌"),
    ("stopping", "The run was asked to stop.", "已请求停止运行。"),
    ("stop_refused", "That is not the stop token.", "停止令牌不正确。"),
    ("connected", "live", "实时"),
    ("lost", "connection lost, trying again", "连接中断，正在重试"),
    (
        "no_script",
        "Without JavaScript this page is read anew every 10 seconds.",
        "未启用 JavaScript，本页每 10 秒自动刷新。",
    ),
    ("ended_done", "The run has ended: all of it was measured.", "运行已结束：全部测完。"),
    (
        "ended_some-failed",
        "The run has ended; some cells have no number.",
        "运行已结束；部分单元没有结果。",
    ),
    (
        "ended_interrupted",
        "The run was stopped; --resume goes on with it.",
        "运行已停止；可用 --resume 继续。",
    ),
    ("ended_failed", "The run could not go on.", "运行无法继续。"),
    ("connecting", "connecting", "建立连接"),
    ("warming up", "warming up", "预热"),
    ("measuring", "measuring", "测量"),
    ("draining", "draining", "收尾"),
    ("day", "d", "天"),
    ("hour", "h", "小时"),
    ("minute", "m", "分"),
    ("second", "s", "秒"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_once_in_both_languages() {
        let (english, chinese) = (Tongue::English.words(), Tongue::Chinese.words());
        assert_eq!((english.len(), chinese.len()), (WORDS.len(), WORDS.len()));
        assert!(english.values().chain(chinese.values()).all(|word| !word.is_empty()));
    }

    #[test]
    fn the_language_is_the_one_that_was_asked_for_else_the_browsers() {
        let code = |asked, accepted| Tongue::of(asked, accepted).code();
        assert_eq!(code(None, None), "en");
        assert_eq!(code(None, Some("de-DE,zh-CN;q=0.9,en;q=0.8")), "zh");
        assert_eq!(code(None, Some("EN-us,zh")), "en");
        assert_eq!(code(Some("zh"), Some("en")), "zh");
        assert_eq!(code(Some("en"), Some("zh")), "en");
        assert_eq!(code(Some("fr"), Some("fr,é,")), "en");
    }
}
