// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong while nodes run. Workers note it without a lock, the first of a kind for each
// node; the control thread shows it.

#include <stdarg.h>
#include <stdio.h>

#include "run/inside.h"
#include "value/say.h"

void node_fault(struct ctx *ctx, bool stop, const char *place, const char *text)
{
	struct fault *fault = &((struct run_node *)(uintptr_t)ctx->node)->fault;
	int none = 0;

	if (!__atomic_compare_exchange_n(&fault->state, &none, 1, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;
	fault->stop = stop;
	snprintf(fault->place, sizeof(fault->place), "%s", place ? place : "");
	snprintf(fault->text, sizeof(fault->text), "%s", text);
	__atomic_store_n(&fault->state, 2, __ATOMIC_RELEASE);
}

void node_note(const struct node *node, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	say(SAY_NOTE, NULL, "%s '%s': %s", node->type->name, node->name, text);
}

static void fault_report(struct run *run, struct run_node *node)
{
	struct fault *fault = &node->fault;

	if (__atomic_load_n(&fault->state, __ATOMIC_ACQUIRE) != 2)
		return;
	say(SAY_ERROR, *fault->place ? fault->place : NULL, "%s '%s': %s", node->pub.type->name,
	    node->pub.name, fault->text);
	__atomic_store_n(&fault->state, 3, __ATOMIC_RELEASE);
	if (!fault->stop)
		return;
	run->fault_ends = true;
	__atomic_fetch_add(&run->faults, 1, __ATOMIC_RELAXED);
}

static void violation_report(struct run *run, struct run_node *node)
{
	struct violation *violation = &node->violation;
	int64_t kept;

	if (__atomic_load_n(&violation->state, __ATOMIC_ACQUIRE) != 2)
		return;
	kept = violation->balance;
	// What a call made or released itself counts into the balance, but was not given to it.
	if (kept > 0 && (uint64_t)kept > violation->took)
		say(SAY_ERROR, NULL, "%s '%s' made or released %lu packet%s more than it let go of",
		    node->pub.type->name, node->pub.name, (uint64_t)kept - violation->took,
		    (uint64_t)kept - violation->took == 1 ? "" : "s");
	else
		say(SAY_ERROR, NULL, "%s '%s' took %lu packet%s and let go of %lu",
		    node->pub.type->name, node->pub.name, violation->took,
		    violation->took == 1 ? "" : "s", violation->took - (uint64_t)kept);
	__atomic_store_n(&violation->state, 3, __ATOMIC_RELEASE);
	__atomic_fetch_add(&run->faults, 1, __ATOMIC_RELAXED);
}

void faults_report(struct run *run, struct run_node *node)
{
	violation_report(run, node);
	fault_report(run, node);
}
