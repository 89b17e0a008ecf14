#pragma once

#include <span>

#include "settings/settings.h"

namespace adbo::app {

/// UsageError when a setting given by flag, --set or file has no effect beside the others: a user who wrote
/// it expects one. Values of presets and defaults are left alone.
void refuse_settings_without_effect(const Settings& settings);

/// The same of the flags that a run is gone on with. From what it was begun with they may take the effect:
/// without threads, their number is none of its matters.
void refuse_flags_without_effect(const Settings& settings, std::span<const Assignment> flags);

}  // namespace adbo::app
