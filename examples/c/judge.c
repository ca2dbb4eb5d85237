/* Judges a Kubernetes object by the core module, which wasm2c has made C of: no runtime at all.
 * The steps are those of docs/abi.md. Usage: judge OBJECT.json */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"

#define POLICY(name) Z_plumb_policyZ_##name
/* `plumb:policy/evaluator@0.1.0#evaluate-json`, as wasm2c writes it. */
#define EVALUATE POLICY(plumbZ3ApolicyZ2FevaluatorZ400Z2E1Z2E0Z23evaluateZ2Djson)
#define GIVE_BACK POLICY(cabi_post_plumbZ3ApolicyZ2FevaluatorZ400Z2E1Z2E0Z23evaluateZ2Djson)

static u32 number(const u8 *at) {
  return at[0] | (u32)at[1] << 8 | (u32)at[2] << 16 | (u32)at[3] << 24;
}

int main(int count, char **arguments) {
  static const char head[] = "{\"check\":{\"object\":", tail[] = "}}";
  static char object[1 << 20];
  FILE *file = count > 1 ? fopen(arguments[1], "rb") : stdin;
  if (!file) return perror(arguments[1]), 2;
  size_t size = fread(object, 1, sizeof object, file);

  wasm_rt_init();
  Z_plumb_policy_init_module();
  Z_plumb_policy_instance_t policy;
  Z_plumb_policy_instantiate(&policy);

  /* 1. Room for the request. The memory may move when it grows: its address is asked for anew. */
  u32 length = sizeof head - 1 + size + sizeof tail - 1;
  u32 request = POLICY(cabi_realloc)(&policy, 0, 0, 1, length);
  u8 *memory = POLICY(memory)(&policy)->data;
  memcpy(memory + request, head, sizeof head - 1);
  memcpy(memory + request + sizeof head - 1, object, size);
  memcpy(memory + request + sizeof head - 1 + size, tail, sizeof tail - 1);

  /* 2. The call. 3. Its result. 4. The result is given back. */
  u32 result = EVALUATE(&policy, request, length);
  memory = POLICY(memory)(&policy)->data;
  int is_err = memory[result];
  fwrite(memory + number(memory + result + 4), 1, number(memory + result + 8), stdout);
  putchar('\n');
  GIVE_BACK(&policy, result);

  Z_plumb_policy_free(&policy);
  wasm_rt_free();
  return is_err;
}
