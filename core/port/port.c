// SPDX-License-Identifier: BSD-3-Clause
// What ports report while they run: faults and notes, one line each in the log.

#include <stdarg.h>
#include <stdio.h>

#include "driver.h"
#include "value/log.h"

static void port_say(const struct port *port, enum log_level level, const char *format,
		     va_list args)
{
	const struct log_about about = {.port = port->name};
	char text[512];

	vsnprintf(text, sizeof(text), format, args);
	log_say(level, &about, "port '%s': %s", port->name, text);
}

void port_fault(struct port *port, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	port_say(port, LOG_LEVEL_ERROR, format, args);
	va_end(args);
	if (port->faults)
		__atomic_fetch_add(port->faults, 1, __ATOMIC_RELAXED);
}

void port_note(struct port *port, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	port_say(port, LOG_LEVEL_NOTE, format, args);
	va_end(args);
}
