// SPDX-License-Identifier: BSD-3-Clause
// Between the files that read captures: what is wrong with one, in words.

#ifndef SLUICE_DRIVERS_CAPTURE_WORDS_H
#define SLUICE_DRIVERS_CAPTURE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#define CAPTURE_HEAD 8 // bytes that tell what kind of file it is

// What a file that is no capture seems to be: "", or " (...)" with what to do.
const char *capture_words_kind(const uint8_t head[CAPTURE_HEAD]);

// A link type as files number it, with its name; libpcap numbers a few in another way.
void capture_words_link(char *text, size_t size, int dlt);

// libpcap's reason why it stopped inside a file.
void capture_words_stop(char *text, size_t size, const char *reason);

#endif
