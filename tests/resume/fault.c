/* Preloaded into a program: ends or fails its N-th change of the file system, so that a script can go through all of
 * them. FAULT_FOLDER: only paths under it (and descriptors opened there) count. FAULT_AT: which one, from 1.
 * FAULT_ERROR: "kill" (half of a write is done first, anything else not at all) or an errno, returned from FAULT_AT on
 * as a disk that stays full does. FAULT_COUNT: a file that is given the number of changes at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int count = 0;

static int inside(const char* path) {
  const char* folder = getenv("FAULT_FOLDER");
  return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int descriptor_inside(int fd) {
  char name[64], path[PATH_MAX];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(name, path, sizeof path - 1);
  if (n < 0) return 0;
  path[n] = 0;
  return inside(path);
}

/* 0: go on; 1: fail with errno set; does not return from a kill, before which `half` is written to `fd`. */
static int fault(int fd, const void* data, size_t half) {
  const char* at = getenv("FAULT_AT");
  const char* error = getenv("FAULT_ERROR");
  const int n = __sync_add_and_fetch(&count, 1);
  if (!at || !error || n < atoi(at)) return 0;
  if (strcmp(error, "kill") == 0) {
    if (n > atoi(at)) return 0;
    static ssize_t (*real)(int, const void*, size_t);
    if (!real) real = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
    if (half > 0 && real(fd, data, half) < 0) { /* dies anyway */
    }
    kill(getpid(), SIGKILL);
    pause();
  }
  errno = atoi(error);
  return 1;
}

__attribute__((destructor)) static void report(void) {
  const char* name = getenv("FAULT_COUNT");
  FILE* file = name ? fopen(name, "w") : NULL;
  if (!file) return;
  fprintf(file, "%d\n", count);
  fclose(file);
}

#define REAL(type, name, ...)                               \
  static type (*real)(__VA_ARGS__);                         \
  if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

ssize_t write(int fd, const void* data, size_t size) {
  REAL(ssize_t, "write", int, const void*, size_t);
  if (descriptor_inside(fd) && fault(fd, data, size / 2)) return -1;
  return real(fd, data, size);
}

int fsync(int fd) {
  REAL(int, "fsync", int);
  if (descriptor_inside(fd) && fault(-1, NULL, 0)) return -1;
  return real(fd);
}

int open(const char* path, int flags, ...) {
  REAL(int, "open", const char*, int, ...);
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
    if (inside(path) && fault(-1, NULL, 0)) return -1;
  }
  return real(path, flags, mode);
}

int mkdir(const char* path, mode_t mode) {
  REAL(int, "mkdir", const char*, mode_t);
  if (inside(path) && fault(-1, NULL, 0)) return -1;
  return real(path, mode);
}

int rename(const char* from, const char* to) {
  REAL(int, "rename", const char*, const char*);
  if (inside(to) && fault(-1, NULL, 0)) return -1;
  return real(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  REAL(int, "renameat2", int, const char*, int, const char*, unsigned);
  if (inside(to)) {
    if (fault(-1, NULL, 0)) return -1;
    if (getenv("FAULT_NO_EXCHANGE")) {
      errno = EINVAL;
      return -1;
    }
  }
  return real(from_folder, from, to_folder, to, flags);
}

/* Removing needs no space: it counts for a kill, but a full disk lets it pass. */
static void removal(void) {
  const char* error = getenv("FAULT_ERROR");
  if (error && strcmp(error, "kill") == 0) fault(-1, NULL, 0);
}

int unlink(const char* path) {
  REAL(int, "unlink", const char*);
  if (inside(path)) removal();
  return real(path);
}

int unlinkat(int folder, const char* path, int flags) {
  REAL(int, "unlinkat", int, const char*, int);
  if (path[0] == '/' ? inside(path) : descriptor_inside(folder)) removal();
  return real(folder, path, flags);
}

int remove(const char* path) {
  REAL(int, "remove", const char*);
  if (inside(path)) removal();
  return real(path);
}
