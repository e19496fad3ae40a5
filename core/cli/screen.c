// SPDX-License-Identifier: BSD-3-Clause
// A text that stays in its place on the terminal while it changes.

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/screen.h"

// Prints one line, cut to so many places on the screen.
static void print_cut(const char *line, unsigned width)
{
	unsigned at = 0;

	for (; *line; line++) {
		if ((*line & 0xc0) != 0x80 && at++ == width)
			break;
		fputc(*line, stdout);
	}
	fputs("\033[K\n", stdout);
}

void screen_show(struct screen *screen, char *text, bool final)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	unsigned lines = 0, rows;
	char *rest = text, *line;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 4 || size.ws_col < 4)
		size = (struct winsize){.ws_row = 24, .ws_col = 80};
	rows = size.ws_row - 2u;
	if (screen->lines)
		printf("\033[%uA\r", screen->lines);
	if (final) {
		printf("%s%s", screen->lines ? "\033[J" : "", text);
		return;
	}
	while ((line = strsep(&rest, "\n")) && rest) {
		if (lines++ < rows)
			print_cut(line, size.ws_col);
	}
	if (lines > rows)
		printf("(%u lines more do not fit here)\033[K\n", lines - rows);
	screen->lines = lines > rows ? rows + 1 : lines;
	fputs("\033[J", stdout);
}
