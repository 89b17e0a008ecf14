#pragma once

#include <string>
#include <string_view>

namespace adbo::app {

/// Text as the content of an element or of an attribute in double quotes, of HTML as of XML: & < > " ' are
/// written as entities, control characters and bytes that are no UTF-8 as U+FFFD, characters that turn the
/// direction of text as [U+202E].
[[nodiscard]] std::string html_escaped(std::string_view text);

/// A word of the user's (a label, an id, the name of a feature) as the content of an element: isolated, so
/// that its direction of writing is its own, and cut where it is very long.
[[nodiscard]] std::string html_word(std::string_view text);

}  // namespace adbo::app
