#pragma once

#include "right/right.h"
// #include "high/high.h"
