# SPDX-License-Identifier: BSD-3-Clause
# make docs: the reference of modules and drivers, and the manual page, from the program's tables.

.PHONY: docs
docs: $(PROGRAM) $(OUT)/sluice.1
	@build/reference.sh $(PROGRAM) docs/reference

$(OUT)/sluice.1: $(PROGRAM) build/manual.sh build/data/sluice.1.in
	@build/manual.sh $(PROGRAM) '$(VERSION_NOW)' > $@.new
	@mv $@.new $@
