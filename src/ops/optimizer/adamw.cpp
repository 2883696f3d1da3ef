// adamw: one step of AdamW, in place; with a v_max it is its AMSGrad form.
#include "ops/op_table.h"
#include "ops/optimizer/update_rules.h"

namespace plimsoll::ops {

void define_adamw(OpTable& table) {
  table.add(make_adam_op("adamw",
                         "Adam with decoupled weight decay lr · weight_decay · param (Loshchilov and Hutter, ICLR "
                         "2019, algorithm 2); as PyTorch's AdamW",
                         WeightDecay::kDecoupled));
}

}  // namespace plimsoll::ops
