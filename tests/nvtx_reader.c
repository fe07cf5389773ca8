/* A tool for NVTX as NVIDIA's profilers are one: loaded through NVTX_INJECTION64_PATH, it writes the ranges of
 * a process to $NVTX_READER_FOLDER/<process id>: "start ID SECONDS DOMAIN MESSAGE" and "end ID SECONDS". */

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef void (*function)(void);

/* The table of exports that NVTX offers a tool, and the modules and functions in it that are used here. */
struct callbacks {
  size_t size;
  int (*functions_of)(int module, function ***functions, unsigned *count);
};
enum { CALLBACKS = 1, CORE2 = 5, START = 2, END = 3, REGISTER_STRING = 10, CREATE_DOMAIN = 12 };

/* What is told of a range. */
struct attributes {
  uint16_t version, size;
  uint32_t category;
  int32_t color_kind;
  uint32_t color;
  int32_t payload_kind, reserved;
  uint64_t payload;
  int32_t message_kind;
  const char *message;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;
static uint64_t last;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Handles of domains and of registered strings are their texts. */
static void *create_domain(const char *name) { return strdup(name); }
static void *register_string(void *domain, const char *text) { return strdup(text); }

static uint64_t start(void *domain, const struct attributes *told) {
  pthread_mutex_lock(&lock);
  uint64_t id = ++last;
  fprintf(file, "start %llu %.9f %s %s\n", (unsigned long long)id, now(), (char *)domain, told->message);
  fflush(file);
  pthread_mutex_unlock(&lock);
  return id;
}

static void end(void *domain, uint64_t id) {
  pthread_mutex_lock(&lock);
  fprintf(file, "end %llu %.9f\n", (unsigned long long)id, now());
  fflush(file);
  pthread_mutex_unlock(&lock);
}

int InitializeInjectionNvtx2(const void *(*exports)(uint32_t)) {
  const struct callbacks *callbacks = exports(CALLBACKS);
  const char *folder = getenv("NVTX_READER_FOLDER");
  function **functions;
  unsigned count;
  char path[4096];
  if (!callbacks || !folder || !callbacks->functions_of(CORE2, &functions, &count) || count <= CREATE_DOMAIN)
    return 0;
  snprintf(path, sizeof path, "%s/%d", folder, (int)getpid());
  if (!(file = fopen(path, "w"))) return 0;
  *functions[START] = (function)start;
  *functions[END] = (function)end;
  *functions[REGISTER_STRING] = (function)register_string;
  *functions[CREATE_DOMAIN] = (function)create_domain;
  return 1;
}
