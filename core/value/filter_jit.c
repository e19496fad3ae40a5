// SPDX-License-Identifier: BSD-3-Clause
// Machine code for filters by DPDK's BPF library, kept to what DPDK 22.11 does right. What it does
// wrong, and what is done about it:
// - a byte or word loaded relative to X is loaded relative to A: the register is put right;
// - `jset` with a constant of one byte becomes broken code: the constant goes into a register;
// - the lengths of jumps may not settle, and some then lead astray: all jumps are made long ones,
//   by filling the way to a near target with instructions that do nothing;
// - offsets wrap around at 2^32 and then read anywhere: refused, unless X is a header's length;
// - loops cannot be run, and the checker walks every path one by one: refused.
// What is refused is left to libpcap's interpreter.

#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include <rte_bpf.h>
#include <rte_malloc.h>

#include "value/filter_jit.h"

#define FILTER_JIT_LENGTH 4096 // instructions
#define FILTER_JIT_STEPS 20000 // of the checker: about 2 ms
#define FILTER_JIT_FAR 170     // bytes after which a jump is a long one, whatever comes before it
#define FILTER_JIT_FILL 25     // instructions of seven bytes that are as far

// Whether an instruction of the classic program is done right. `computed`: X may be any number.
static bool filter_jit_plain(const struct bpf_insn *insn, bool computed)
{
	unsigned mode = BPF_MODE(insn->code);

	switch (BPF_CLASS(insn->code)) {
	case BPF_LD:
	case BPF_LDX:
		if (mode == BPF_IND && computed)
			return false;
		return mode == BPF_IMM || insn->k <= INT32_MAX / 2;
	case BPF_ALU:
		return BPF_SRC(insn->code) != BPF_X ||
		       (BPF_OP(insn->code) != BPF_LSH && BPF_OP(insn->code) != BPF_RSH);
	default:
		return true;
	}
}

// Where an instruction leads: one place or two, 0 stands for none. false: backwards or nowhere.
static bool filter_jit_next(const struct bpf_insn *insns, unsigned i, unsigned n, unsigned to[2])
{
	uint64_t at = i + 1ull;

	to[0] = to[1] = 0;
	if (BPF_CLASS(insns[i].code) == BPF_RET)
		return true;
	if (insns[i].code == (BPF_JMP | BPF_JA)) {
		at += insns[i].k; // backwards is very far forwards
	} else if (BPF_CLASS(insns[i].code) == BPF_JMP) {
		to[1] = at + insns[i].jf;
		at += insns[i].jt;
	}
	to[0] = at < n ? at : n;
	return to[0] < n && to[1] < n;
}

static bool filter_jit_can(const struct bpf_insn *insns, unsigned n)
{
	unsigned steps[FILTER_JIT_LENGTH] = {1}, all = 0; // how often the checker comes by
	bool computed = false;

	if (n > FILTER_JIT_LENGTH)
		return false;
	for (unsigned i = 0; i < n; i++)
		computed |=
		    insns[i].code == (BPF_MISC | BPF_TAX) ||
		    (BPF_CLASS(insns[i].code) == BPF_LDX && BPF_MODE(insns[i].code) != BPF_MSH);
	for (unsigned i = 0; i < n; i++) {
		unsigned to[2];

		all += steps[i];
		if (all > FILTER_JIT_STEPS || !filter_jit_plain(&insns[i], computed) ||
		    !filter_jit_next(insns, i, n, to))
			return false;
		steps[to[0]] += steps[i];
		steps[to[1]] += steps[i];
	}
	return true;
}

static bool filter_jit_load(const struct ebpf_insn *insn)
{
	return BPF_CLASS(insn->code) == BPF_LD &&
	       (BPF_MODE(insn->code) == BPF_ABS || BPF_MODE(insn->code) == BPF_IND);
}

static bool filter_jit_exit(const struct ebpf_insn *insn)
{
	return insn->code == (BPF_JMP | EBPF_EXIT);
}

// Whether there is as much code from one instruction to another as makes a jump long; the code of
// each is at least so many bytes.
static bool filter_jit_far(const struct ebpf_insn *insns, const bool *fill, uint32_t from,
			   uint32_t to)
{
	unsigned bytes = 0;

	for (uint32_t i = from + 1; i < to && bytes < FILTER_JIT_FAR; i++)
		bytes += fill[i] ? FILTER_JIT_FAR : filter_jit_load(&insns[i]) ? 70 : 2;
	return bytes >= FILTER_JIT_FAR;
}

// Where to fill, so that each jump is far from its target, and each load from the first exit, to
// which it jumps when the packet ends before. false: a jump leads to the next instruction.
static bool filter_jit_fill(const struct ebpf_insn *insns, uint32_t n, bool *fill)
{
	uint32_t exit = 0;

	while (exit < n && !filter_jit_exit(&insns[exit]))
		exit++;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t to = 0;

		if (filter_jit_load(&insns[i]))
			to = exit;
		else if (BPF_CLASS(insns[i].code) == BPF_JMP && !filter_jit_exit(&insns[i]))
			to = i + 1 + insns[i].off;
		if (to == i + 1)
			return false;
		if (to > i)
			fill[i + 1] |= !filter_jit_far(insns, fill, i, to);
	}
	return true;
}

// Writes the converted program as it should be; returns how long it is. Where instruction i begins
// is noted in at[i].
static uint32_t filter_jit_write(const struct ebpf_insn *insns, uint32_t n, const bool *fill,
				 struct ebpf_insn *out, uint32_t *at)
{
	const struct ebpf_insn move = {
	    .code = EBPF_ALU64 | EBPF_MOV | BPF_K, .dst_reg = EBPF_REG_5, .imm = INT32_MAX};
	uint32_t to = 0;

	for (uint32_t i = 0; i < n; i++) {
		at[i] = to;
		for (unsigned k = 0; fill[i] && k < FILTER_JIT_FILL; k++)
			out[to++] = move;
		out[to] = insns[i];
		if (filter_jit_load(&insns[i]) && BPF_MODE(insns[i].code) == BPF_IND)
			out[to].src_reg = EBPF_REG_7; // where the conversion keeps X
		if (insns[i].code == (BPF_JMP | BPF_JSET | BPF_K)) {
			out[to] = move;
			out[to++].imm = insns[i].imm;
			out[to] = insns[i];
			out[to].code = BPF_JMP | BPF_JSET | BPF_X;
			out[to].src_reg = EBPF_REG_5;
			out[to].imm = 0;
		}
		to++;
	}
	return to;
}

// Jumps go where they went, counted anew: each is the last that was written for its instruction.
static bool filter_jit_aim(const struct ebpf_insn *insns, uint32_t n, struct ebpf_insn *out,
			   const uint32_t *at)
{
	for (uint32_t i = 0; i + 1 < n; i++) {
		int64_t off;

		if (BPF_CLASS(insns[i].code) != BPF_JMP || filter_jit_exit(&insns[i]))
			continue;
		off = (int64_t)at[i + 1 + insns[i].off] - at[i + 1];
		if (off > INT16_MAX)
			return false;
		out[at[i + 1] - 1].off = off;
	}
	return true;
}

// Loads the converted program, mended.
static struct rte_bpf *filter_jit_mend(const struct rte_bpf_prm *converted)
{
	struct rte_bpf_prm mended = *converted;
	uint32_t n = converted->nb_ins;
	struct ebpf_insn *out = calloc((size_t)n * (FILTER_JIT_FILL + 2), sizeof(*out));
	uint32_t *at = calloc(n, sizeof(*at));
	bool *fill = calloc(n + 1, sizeof(*fill));
	struct rte_bpf *bpf = NULL;

	if (out && at && fill && filter_jit_fill(converted->ins, n, fill)) {
		mended.ins = out;
		mended.nb_ins = filter_jit_write(converted->ins, n, fill, out, at);
		if (filter_jit_aim(converted->ins, n, out, at))
			bpf = rte_bpf_load(&mended);
	}
	free(out);
	free(at);
	free(fill);
	return bpf;
}

struct rte_bpf *filter_jit(const struct bpf_program *program, uint64_t (**run)(void *))
{
	struct rte_bpf_prm *converted;
	struct rte_bpf_jit jit = {NULL};
	struct rte_bpf *bpf;

	if (!filter_jit_can(program->bf_insns, program->bf_len))
		return NULL;
	converted = rte_bpf_convert(program);
	if (!converted)
		return NULL;
	bpf = filter_jit_mend(converted);
	rte_free(converted);
	if (bpf && !rte_bpf_get_jit(bpf, &jit))
		*run = jit.func;
	return bpf;
}
