// SPDX-License-Identifier: BSD-3-Clause
// Between the files that read YAML: what no text is, and libyaml's faults in words of ours.

#ifndef SLUICE_VALUE_YAML_TEXT_H
#define SLUICE_VALUE_YAML_TEXT_H

#include <yaml.h>

#include "value/errors.h"

// What is read; `text` need not end with a NUL.
struct yaml_text {
	const char *file;
	const unsigned char *text;
	size_t length;
	struct errors *errors;
};

struct place yaml_place(const struct yaml_text *, yaml_mark_t);

// Reports a text that YAML should not even see: too long, a capture, a program, a NUL in it.
bool yaml_text_refused(const struct yaml_text *);

// Reports why the parser stopped.
void yaml_fault_report(const struct yaml_text *, const yaml_parser_t *);

#endif
