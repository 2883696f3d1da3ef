#include "high/part/part.h"

#include "apps/main.h"
#include "high/high.h"
