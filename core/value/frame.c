// SPDX-License-Identifier: BSD-3-Clause
// Packets in words or hexadecimal to bytes. The layers and their fields are in frame_layers.c.

#include "value/scalar.h"
#include "value/table.h"

bool frame_parse(struct arena *arena, const char *text, struct frame *frame, const char **why)
{
	if (hex_scan(arena, text, &frame->bytes, &frame->n))
		return true;
	*why = arena_printf(arena, "\"%s\" is not a packet", text);
	return false;
}
