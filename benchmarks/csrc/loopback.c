/* SPDX-License-Identifier: MIT
 *
 * Loopback peers for the benchmarks, all in one program. Each listens on a port of its own:
 *
 *   nfs     NFSv3 (RFC 1813) over record marking (RFC 5531 section 11): NULL, GETATTR, ACCESS, READ, WRITE and FSINFO are
 *           answered at once with fixed attributes, any other procedure with PROC_UNAVAIL. What a client reaches here is its
 *           own ceiling, not the server's.
 *   echo    sends back what it gets
 *   sink    reads and forgets
 *   source  sends without end
 *
 * Prints the four port numbers on one line and serves until its standard input ends. Every connection is served by a process
 * of its own with blocking calls, so that an idle client costs a busy one nothing.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SERVICES = 4, CHUNK = 1 << 20, LARGEST_READ = 4 << 20, LONGEST_HEAD = 1024 };
enum { NFS_NULL = 0, NFS_GETATTR = 1, NFS_ACCESS = 4, NFS_READ = 6, NFS_WRITE = 7, NFS_FSINFO = 19 };

static unsigned char scratch[CHUNK];
static unsigned char file_data[LARGEST_READ];

static uint32_t word_at(const unsigned char *at)
{
    uint32_t raw;
    memcpy(&raw, at, 4);
    return ntohl(raw);
}

static unsigned char *put(unsigned char *at, uint32_t value)
{
    uint32_t raw = htonl(value);
    memcpy(at, &raw, 4);
    return at + 4;
}

static unsigned char *put_words(unsigned char *at, const uint32_t *words, int count)
{
    for (int i = 0; i < count; i++)
        at = put(at, words[i]);
    return at;
}

/* fattr3: a regular file of 64 MiB. */
static unsigned char *put_attributes(unsigned char *at)
{
    static const uint32_t fattr3[21] = {
        1, 0644, 1, 0, 0,           /* type mode nlink uid gid */
        0, 64 << 20, 0, 64 << 20,   /* size used */
        0, 0, 0, 11, 0, 4242,       /* rdev fsid fileid */
        1700000000, 1, 1700000000, 2, 1700000000, 3,
    };
    return put_words(at, fattr3, 21);
}

static int send_parts(int fd, struct iovec *parts, int count)
{
    while (count > 0) {
        struct msghdr message = { .msg_iov = parts, .msg_iovlen = (size_t)count };
        ssize_t sent = sendmsg(fd, &message, 0);
        if (sent <= 0)
            return -1;
        while (count > 0 && (size_t)sent >= parts->iov_len) {
            sent -= (ssize_t)parts->iov_len;
            parts++, count--;
        }
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + sent;
            parts->iov_len -= (size_t)sent;
        }
    }
    return 0;
}

struct replies {
    int fd;
    size_t used;
    unsigned char bytes[1 << 16];
};

static int flush(struct replies *out)
{
    struct iovec part = { out->bytes, out->used };
    out->used = 0;
    return part.iov_len ? send_parts(out->fd, &part, 1) : 0;
}

/* Answers the call whose record (mark included) begins at `call`; 0, or -1 when the connection is gone. */
static int answer(struct replies *out, const unsigned char *call)
{
    if (sizeof out->bytes - out->used < LONGEST_HEAD && flush(out))
        return -1;
    uint32_t procedure = word_at(call + 24);
    const unsigned char *args = call + 28;
    for (int i = 0; i < 2; i++) /* credential and verifier */
        args += 8 + ((word_at(args + 4) + 3) & ~3u);

    unsigned char *start = out->bytes + out->used, *at = put(start + 4, word_at(call + 4));
    static const uint32_t accepted[5] = { 1, 0, 0, 0, 0 }; /* REPLY MSG_ACCEPTED AUTH_NONE "" SUCCESS */
    at = put_words(at, accepted, 5);
    uint32_t data = 0;
    const unsigned char *behind_handle = procedure == NFS_NULL ? args : args + 4 + ((word_at(args) + 3) & ~3u);
    switch (procedure) {
    case NFS_NULL:
        break;
    case NFS_GETATTR:
        at = put_attributes(put(at, 0));
        break;
    case NFS_ACCESS:
        at = put(put_attributes(put(put(at, 0), 1)), word_at(behind_handle));
        break;
    case NFS_READ:
        data = word_at(behind_handle + 8);
        if (data > LARGEST_READ)
            data = LARGEST_READ;
        at = put_attributes(put(put(at, 0), 1));
        at = put(put(put(at, data), 0), data);
        break;
    case NFS_WRITE:
        at = put_attributes(put(put(put(at, 0), 0), 1)); /* no pre-operation attributes */
        at = put(put(at, word_at(behind_handle + 8)), word_at(behind_handle + 12));
        at = put(put(at, 0x62656e63), 0x68303031);
        break;
    case NFS_FSINFO: {
        static const uint32_t limits[12] = { 4 << 20, 4 << 20, 512, 4 << 20, 4 << 20, 512, 8192, 0x7fffffff, 0xffffffff, 0, 1, 27 };
        at = put_words(put(put(at, 0), 0), limits, 12);
        break;
    }
    default:
        at = put(at - 4, 3); /* PROC_UNAVAIL */
    }
    uint32_t padding = -data & 3u;
    put(start, 0x80000000u | (uint32_t)(at - start - 4 + data + padding));
    out->used = (size_t)(at - out->bytes);
    if (!data)
        return 0;
    struct iovec parts[2] = { { out->bytes, out->used }, { file_data, data + padding } };
    out->used = 0;
    return send_parts(out->fd, parts, 2);
}

static void serve_nfs(int fd)
{
    static unsigned char in[1 << 18];
    static struct replies out;
    size_t have = 0;
    out.fd = fd;
    for (;;) {
        ssize_t got = recv(fd, in + have, sizeof in - have, 0);
        if (got <= 0)
            return;
        have += (size_t)got;
        size_t at = 0;
        while (have - at >= 4) {
            uint32_t mark = word_at(in + at);
            size_t length = 4 + (mark & 0x7fffffff), there = have - at;
            if (!(mark & 0x80000000u)) {
                fprintf(stderr, "loopback nfs: a record of several fragments is not served\n");
                return;
            }
            if (there < length && there < LONGEST_HEAD)
                break;
            size_t missing = there < length ? length - there : 0;
            while (missing) { /* the rest of a WRITE: only its head matters */
                got = recv(fd, scratch, missing < CHUNK ? missing : CHUNK, 0);
                if (got <= 0)
                    return;
                missing -= (size_t)got;
            }
            if (answer(&out, in + at))
                return;
            at += there < length ? there : length;
        }
        memmove(in, in + at, have - at);
        have -= at;
        if (flush(&out))
            return;
    }
}

static void serve_echo(int fd)
{
    for (ssize_t got; (got = recv(fd, scratch, CHUNK, 0)) > 0;) {
        struct iovec part = { scratch, (size_t)got };
        if (send_parts(fd, &part, 1))
            return;
    }
}

static void serve_sink(int fd)
{
    while (recv(fd, scratch, CHUNK, 0) > 0)
        ;
}

static void serve_source(int fd)
{
    struct iovec part;
    do
        part = (struct iovec){ file_data, CHUNK };
    while (!send_parts(fd, &part, 1));
}

static int listen_on_loopback(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) || listen(fd, 1024) || getsockname(fd, (struct sockaddr *)&address, &size)) {
        perror("loopback");
        exit(1);
    }
    printf("%d ", ntohs(address.sin_port));
    return fd;
}

int main(void)
{
    static void (*const serve[SERVICES])(int) = { serve_nfs, serve_echo, serve_sink, serve_source };
    struct pollfd waiting[SERVICES + 1] = { { .fd = 0, .events = POLLIN } };
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    memset(file_data, 'd', sizeof file_data);
    for (int i = 0; i < SERVICES; i++)
        waiting[i + 1] = (struct pollfd){ .fd = listen_on_loopback(), .events = POLLIN };
    printf("\n");
    fflush(stdout);
    for (;;) {
        if (poll(waiting, SERVICES + 1, -1) < 0)
            return 1;
        if (waiting[0].revents) {
            char byte;
            if (read(0, &byte, 1) <= 0)
                return 0; /* children follow by PR_SET_PDEATHSIG */
        }
        for (int i = 0; i < SERVICES; i++) {
            if (!waiting[i + 1].revents)
                continue;
            int fd = accept(waiting[i + 1].fd, NULL, NULL), on = 1;
            if (fd >= 0 && fork() == 0) {
                prctl(PR_SET_PDEATHSIG, SIGTERM);
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                serve[i](fd);
                _exit(0);
            }
            if (fd >= 0)
                close(fd);
        }
    }
}
