#pragma once

#include <string>
#include <string_view>

namespace adbo::app {

/// Text as the content of an element or of an attribute in double quotes, of HTML as of XML: & < > " ' are
/// written as entities, control characters and bytes that are no UTF-8 as U+FFFD.
[[nodiscard]] std::string html_escaped(std::string_view text);

}  // namespace adbo::app
