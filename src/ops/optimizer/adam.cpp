// adam: one step of Adam, in place; with a v_max it is AMSGrad.
#include "ops/op_table.h"
#include "ops/optimizer/update_rules.h"

namespace plimsoll::ops {

void define_adam(OpTable& table) {
  table.add(make_adam_op("adam",
                         "Adam with L2 weight decay (Kingma and Ba, ICLR 2015, algorithm 1); AMSGrad where v_max is "
                         "given (Reddi et al., ICLR 2018); as PyTorch's Adam",
                         WeightDecay::kInGradient));
}

}  // namespace plimsoll::ops
