// SPDX-License-Identifier: BSD-3-Clause
// The ring of bytes between two threads: room, the place where it begins again, and a thread at
// either end.

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "control/ring.h"
#include "suite.h"

#define SIZE 65536
#define WORDS 400000u

static void room_is_what_is_free(void)
{
	struct ring ring;

	CU_ASSERT_TRUE_FATAL(ring_make(&ring, SIZE));
	CU_ASSERT_EQUAL(ring_room(&ring, 1), SIZE);
	ring_push(&ring, SIZE - 10);
	CU_ASSERT_EQUAL(ring_room(&ring, 10), 10);
	CU_ASSERT_EQUAL(ring_room(&ring, 11), 10);
	CU_ASSERT_EQUAL(ring_filled(&ring), SIZE - 10);
	ring_pop(&ring, 100);
	CU_ASSERT_EQUAL(ring_room(&ring, 10), 10); // it has not looked
	CU_ASSERT_EQUAL(ring_room(&ring, 11), 110);
	ring_free(&ring);
	CU_ASSERT_PTR_NULL(ring.bytes);
	ring_free(&ring);
}

// What is written over the end is read in one piece, and stands at the beginning too.
static void the_end_is_the_beginning(void)
{
	struct ring ring;

	CU_ASSERT_TRUE_FATAL(ring_make(&ring, SIZE));
	ring_push(&ring, SIZE - 3);
	ring_pop(&ring, SIZE - 3);
	memcpy(ring_tail(&ring), "abcdefgh", 8);
	ring_push(&ring, 8);
	CU_ASSERT(!memcmp(ring_at(&ring, SIZE - 3), "abcdefgh", 8));
	CU_ASSERT(!memcmp(ring.bytes, "defgh", 5));
	CU_ASSERT_PTR_EQUAL(ring_tail(&ring), ring.bytes + 5);
	ring_free(&ring);
}

static void *words_write(void *arg)
{
	struct ring *ring = arg;

	for (uint32_t i = 0; i < WORDS; i++) {
		while (ring_room(ring, sizeof(i)) < sizeof(i))
			sched_yield();
		memcpy(ring_tail(ring), &i, sizeof(i));
		ring_push(ring, sizeof(i));
	}
	return NULL;
}

static void two_threads_agree(void)
{
	struct ring ring;
	pthread_t thread;
	uint64_t at = 0;
	uint32_t wrong = 0;

	CU_ASSERT_TRUE_FATAL(ring_make(&ring, SIZE));
	CU_ASSERT_FATAL(!pthread_create(&thread, NULL, words_write, &ring));
	for (uint32_t i = 0; i < WORDS; i++) {
		uint32_t word;

		while (ring_filled(&ring) - at < sizeof(word))
			sched_yield();
		memcpy(&word, ring_at(&ring, at), sizeof(word));
		wrong += word != i;
		at += sizeof(word);
		if (i % 1000 == 999)
			ring_pop(&ring, at);
	}
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(wrong, 0);
	ring_free(&ring);
}

static const CU_TestInfo cases[] = {
    {"room is what is free", room_is_what_is_free},
    {"the end is the beginning", the_end_is_the_beginning},
    {"two threads agree", two_threads_agree},
    CU_TEST_INFO_NULL,
};
SUITE(ring_bytes, cases)
