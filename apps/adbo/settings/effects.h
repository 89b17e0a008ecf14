#pragma once

#include "settings/settings.h"

namespace adbo::app {

/// UsageError when a setting given by flag, --set or file has no effect beside the others: a user who wrote
/// it expects one. Values of presets and defaults are left alone.
void refuse_settings_without_effect(const Settings& settings);

}  // namespace adbo::app
