#pragma once
// Everything an embedder needs.

#include "adbo/early_stopping.h"
#include "adbo/measures.h"
#include "adbo/method_table.h"
#include "adbo/objective.h"
#include "adbo/observer.h"
#include "adbo/option_table.h"
#include "adbo/options.h"
#include "adbo/problem.h"
#include "adbo/problems/hyper_cleaning.h"
#include "adbo/problems/quadratic.h"
#include "adbo/problems/regularization_tuning.h"
#include "adbo/random.h"
#include "adbo/solver.h"
#include "adbo/status.h"
#include "adbo/summary.h"
#include "adbo/version.h"
