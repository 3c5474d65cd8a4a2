/* Records what a program asks of its disk, in order: loaded with LD_PRELOAD, it logs every change below a folder
 * to a file and passes it on. In: RECORD_BELOW (the folder), RECORD_TO (the file). Out: records of
 *   op (1 byte), path length (4), offset (8), data length (4), all little-endian, then path and data.
 * Ops: C created, M made a folder, W wrote, T truncated (offset is the size), S synced (a file or a folder),
 * U unlinked, R renamed or L linked (data is the new path). A write is recorded before it is done, a sync after.
 * Independent of what the bytes mean. Writes through mmap are not seen: SQLite's -shm is one, which does not
 * matter because it is rebuilt after a crash. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_FD 4096
static char *paths[MAX_FD];
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int out = -1;
static const char *below;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int recording(void) {
    if (out == -1) {
        const char *to = getenv("RECORD_TO");
        below = getenv("RECORD_BELOW");
        out = to && below ? REAL(open)(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -2;
    }
    return out >= 0;
}

static int inside(const char *path) {
    return recording() && path && strncmp(path, below, strlen(below)) == 0;
}

static void record(char op, const char *path, uint64_t offset, const void *data, uint32_t length) {
    uint32_t named = (uint32_t)strlen(path);
    size_t total = 17 + named + length;
    char *all = malloc(total);
    all[0] = op;
    memcpy(all + 1, &named, 4);
    memcpy(all + 5, &offset, 8);
    memcpy(all + 13, &length, 4);
    memcpy(all + 17, path, named);
    if (length) memcpy(all + 17 + named, data, length);
    pthread_mutex_lock(&turn);
    if (REAL(write)(out, all, total) != (ssize_t)total) abort();
    pthread_mutex_unlock(&turn);
    free(all);
}

static void opened(int fd, const char *path, int flags, int existed) {
    if (fd < 0 || fd >= MAX_FD || !inside(path)) return;
    free(paths[fd]);
    paths[fd] = strdup(path);
    if (!existed) record('C', path, 0, NULL, 0);
    if (existed && (flags & O_TRUNC)) record('T', path, 0, NULL, 0);
}

static int there(const char *path) {
    return access(path, F_OK) == 0;
}

#define OPEN(name)                                                     \
    int name(const char *path, int flags, ...) {                       \
        mode_t mode = 0;                                               \
        if (flags & (O_CREAT | O_TMPFILE)) {                           \
            va_list more;                                              \
            va_start(more, flags);                                     \
            mode = va_arg(more, mode_t);                               \
            va_end(more);                                              \
        }                                                              \
        int existed = there(path);                                     \
        int fd = REAL(name)(path, flags, mode);                        \
        opened(fd, path, flags, existed);                              \
        return fd;                                                     \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                   \
    int name(int folder, const char *path, int flags, ...) {           \
        mode_t mode = 0;                                               \
        if (flags & (O_CREAT | O_TMPFILE)) {                           \
            va_list more;                                              \
            va_start(more, flags);                                     \
            mode = va_arg(more, mode_t);                               \
            va_end(more);                                              \
        }                                                              \
        int existed = there(path);                                     \
        int fd = REAL(name)(folder, path, flags, mode);                \
        opened(fd, path, flags, existed);                              \
        return fd;                                                     \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int fd) {
    if (fd >= 0 && fd < MAX_FD && paths[fd]) {
        free(paths[fd]);
        paths[fd] = NULL;
    }
    return REAL(close)(fd);
}

static const char *of(int fd) {
    return fd >= 0 && fd < MAX_FD ? paths[fd] : NULL;
}

#define PWRITE(name, offset_t)                                                       \
    ssize_t name(int fd, const void *data, size_t length, offset_t offset) {         \
        if (of(fd)) record('W', of(fd), (uint64_t)offset, data, (uint32_t)length);   \
        return REAL(name)(fd, data, length, offset);                                 \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *data, size_t length) {
    if (of(fd)) {
        off_t at = lseek(fd, 0, (fcntl(fd, F_GETFL) & O_APPEND) ? SEEK_END : SEEK_CUR);
        record('W', of(fd), (uint64_t)at, data, (uint32_t)length);
    }
    return REAL(write)(fd, data, length);
}

#define TRUNCATE(name, offset_t)                                     \
    int name(int fd, offset_t size) {                                \
        if (of(fd)) record('T', of(fd), (uint64_t)size, NULL, 0);    \
        return REAL(name)(fd, size);                                 \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define SYNC(name)                                            \
    int name(int fd) {                                        \
        int done = REAL(name)(fd);                            \
        if (of(fd) && done == 0) record('S', of(fd), 0, NULL, 0); \
        return done;                                          \
    }
SYNC(fsync)
SYNC(fdatasync)

int unlink(const char *path) {
    if (inside(path)) record('U', path, 0, NULL, 0);
    return REAL(unlink)(path);
}

int mkdir(const char *path, mode_t mode) {
    int done = REAL(mkdir)(path, mode);
    if (done == 0 && inside(path)) record('M', path, 0, NULL, 0);
    return done;
}

int rename(const char *from, const char *to) {
    if (inside(from)) record('R', from, 0, to, (uint32_t)strlen(to));
    return REAL(rename)(from, to);
}

int link(const char *from, const char *to) {
    if (inside(from)) record('L', from, 0, to, (uint32_t)strlen(to));
    return REAL(link)(from, to);
}
