// SPDX-License-Identifier: BSD-3-Clause
// What ports report while they run: faults and notes, one line each on standard error.

#include <stdarg.h>
#include <stdio.h>

#include "driver.h"
#include "value/say.h"

static void port_say(const struct port *port, enum say_kind kind, const char *format, va_list args)
{
	char text[512];

	vsnprintf(text, sizeof(text), format, args);
	say(kind, NULL, "port '%s': %s", port->name, text);
}

void port_fault(struct port *port, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	port_say(port, SAY_ERROR, format, args);
	va_end(args);
	if (port->faults)
		__atomic_fetch_add(port->faults, 1, __ATOMIC_RELAXED);
}

void port_note(struct port *port, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	port_say(port, SAY_NOTE, format, args);
	va_end(args);
}
