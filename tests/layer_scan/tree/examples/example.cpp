#include "apps/main.h"
#include "low/low.h"
