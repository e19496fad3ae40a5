# SPDX-License-Identifier: BSD-3-Clause
# make install, uninstall: the program, what modules of one's own are built with, examples, manual.

PREFIX ?= /usr/local
DESTDIR ?=
BINDIR := $(PREFIX)/bin
INCLUDEDIR := $(PREFIX)/include/sluice
PKGCONFIGDIR := $(PREFIX)/lib/pkgconfig
MANDIR := $(PREFIX)/share/man/man1
COMPLETIONDIR := $(PREFIX)/share/bash-completion/completions
# Debian's zsh looks here.
ZSHDIR := $(PREFIX)/share/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)
UNITDIR := $(PREFIX)/lib/systemd/system
EXAMPLEDIR := $(PREFIX)/share/sluice/graphs

PUBLIC_HEADERS := $(sort $(wildcard core/*.h))
EXAMPLES := $(sort $(wildcard graphs/*.yaml graphs/*.lua))
EXAMPLE_DATA := $(sort $(wildcard graphs/data/*.pcap graphs/data/*.lua))

.PHONY: install uninstall
install: $(PROGRAM) $(OUT)/sluice.1
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(INCLUDEDIR) $(PKGCONFIGDIR) $(MANDIR) \
		$(COMPLETIONDIR) $(ZSHDIR) $(UNITDIR) $(EXAMPLEDIR)/data)
	install -m 755 $(PROGRAM) $(DESTDIR)$(BINDIR)/sluice
	install -m 644 $(PUBLIC_HEADERS) $(DESTDIR)$(INCLUDEDIR)
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION_NOW)|' build/data/sluice.pc.in \
		> $(DESTDIR)$(PKGCONFIGDIR)/sluice.pc
	install -m 644 $(OUT)/sluice.1 $(DESTDIR)$(MANDIR)
	install -m 644 build/data/sluice.bash $(DESTDIR)$(COMPLETIONDIR)/sluice
	install -m 644 build/data/sluice.zsh $(DESTDIR)$(ZSHDIR)/_sluice
	sed 's|@PREFIX@|$(PREFIX)|' build/data/sluice@.service > $(DESTDIR)$(UNITDIR)/sluice@.service
	install -m 644 $(EXAMPLE_DATA) $(DESTDIR)$(EXAMPLEDIR)/data
	for file in $(EXAMPLES); do \
		sed 's|graphs/data/|$(EXAMPLEDIR)/data/|; s|build/out/||; s|build/out/sluice|sluice|' \
			$$file > $(DESTDIR)$(EXAMPLEDIR)/$${file#graphs/} || exit 1; \
	done

# Takes away what install put there, and folders of ours that are then empty.
uninstall:
	rm -f $(DESTDIR)$(BINDIR)/sluice $(DESTDIR)$(PKGCONFIGDIR)/sluice.pc \
		$(DESTDIR)$(MANDIR)/sluice.1 $(DESTDIR)$(COMPLETIONDIR)/sluice \
		$(DESTDIR)$(ZSHDIR)/_sluice \
		$(DESTDIR)$(UNITDIR)/sluice@.service \
		$(addprefix $(DESTDIR)$(INCLUDEDIR)/,$(notdir $(PUBLIC_HEADERS))) \
		$(addprefix $(DESTDIR)$(EXAMPLEDIR)/,$(EXAMPLES:graphs/%=%) $(EXAMPLE_DATA:graphs/%=%))
	-rmdir $(addprefix $(DESTDIR),$(INCLUDEDIR) $(EXAMPLEDIR)/data $(EXAMPLEDIR) \
		$(PREFIX)/share/sluice) 2>/dev/null
