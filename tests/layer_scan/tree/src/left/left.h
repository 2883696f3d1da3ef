#pragma once

#include <vector>

#include "left.h"
#include "low/low.h"
#include "right/right.h"
