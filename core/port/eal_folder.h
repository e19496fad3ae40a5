// SPDX-License-Identifier: BSD-3-Clause
// Between the files that start DPDK's environment: the folder for its files.

#ifndef SLUICE_PORT_EAL_FOLDER_H
#define SLUICE_PORT_EAL_FOLDER_H

#include <stdbool.h>

#define EAL_PREFIX "sluice"	      // dpdk-telemetry.py -f sluice
#define EAL_NOWHERE "/proc/self/none" // EAL can make no folder there

// Where dpdk-telemetry.py looks for folders: /var/run, or of ordinary users $XDG_RUNTIME_DIR, /tmp.
const char *eal_folder_base(void);
// Makes the folder of telemetry's socket. False: this user cannot have it to himself.
bool eal_folder_make(void);

// While EAL starts, it takes `place` for the base.
struct eal_folder {
	char *before;
};
void eal_folder_show(struct eal_folder *, const char *place);
void eal_folder_restore(struct eal_folder *);

#endif
