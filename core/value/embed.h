// SPDX-License-Identifier: BSD-3-Clause
// A file of the source tree that lies in the program: put there by the assembler, found by name.

#ifndef SLUICE_VALUE_EMBED_H
#define SLUICE_VALUE_EMBED_H

// Declares SYMBOL[] and SYMBOL_end[], the bytes of the file at PATH (seen from where the compiler
// runs). Behind the last stands a NUL that is not counted.
#define EMBED(SYMBOL, PATH)                                                                        \
	__asm__(".section .rodata\n" #SYMBOL ":\n"                                                 \
		".incbin \"" PATH "\"\n" #SYMBOL "_end:\n"                                         \
		".byte 0\n"                                                                        \
		".previous\n");                                                                    \
	extern const char SYMBOL[], SYMBOL##_end[];

#endif
