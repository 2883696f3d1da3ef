#pragma once

#include "lost/lost.h"
#include "low/low.h"
