// SPDX-License-Identifier: BSD-3-Clause
// A text that stays in its place on the terminal while it changes, cut to fit there.

#ifndef SLUICE_CLI_SCREEN_H
#define SLUICE_CLI_SCREEN_H

#include <stdbool.h>

struct screen {
	unsigned lines; // of the text that is there now
};

// Puts the text in the place of the last one; `final`: whole, and there it stays. Changes the text.
void screen_show(struct screen *, char *text, bool final);

#endif
