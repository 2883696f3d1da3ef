#pragma once

#include "hwy/highway.h"
#include "left/left.h"
#include "right/right.h"
