/* SPDX-License-Identifier: MIT
 *
 * libnfs (C) as a worker of the benchmarks; see workers/common.py for the protocol of a worker and the environment it gets.
 * Reads one order per line, `OPERATION PLACE WINDOW SIZE SECONDS`, and answers with one line of JSON.
 *
 *   getattr read write list cycle   by the asynchronous raw calls and a poll loop, WINDOW calls outstanding
 *   fstat opendir filecycle         by the synchronous high-level calls
 */
#include <sys/time.h> /* libnfs.h needs struct timeval */
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-nfs.h>

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#ifdef LIBNFS_API_V2
#error "this driver is written for the interface of libnfs 4 and 5"
#endif

enum { FILE_SIZE = 64 << 20, SMALL_FILE = 4096, LARGEST = 4 << 20 };

struct order {
    char operation[24], place[16];
    uint32_t window, size;
    double seconds;
};

static struct {
    struct rpc_context *rpc;
    struct nfs_fh3 handle;
    uint32_t size;
    uint64_t offset;
    double deadline;
    uint64_t operations, bytes;
    uint32_t outstanding;
    int stopped;
    /* listing */
    uint64_t cookie;
    char cookie_verifier[8];
    /* small-file cycle */
    char name[64];
    struct nfs_fh3 created;
    char created_bytes[64];
} run;

static char payload[LARGEST];
static unsigned long names_used;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void give_up(const char *what, const char *why)
{
    printf("{\"error\": \"libnfs: %s: %s\"}\n", what, why ? why : "");
    fflush(stdout);
    exit(1);
}

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    if (!value)
        give_up("missing in the environment", name);
    return value;
}

static struct nfs_fh3 handle_setting(const char *name)
{
    const char *text = setting(name);
    size_t length = strlen(text) / 2;
    char *bytes = malloc(length + 1);
    for (size_t i = 0; i < length; i++) {
        unsigned value;
        sscanf(text + 2 * i, "%2x", &value);
        bytes[i] = (char)value;
    }
    struct nfs_fh3 handle = { { (u_int)length, bytes } };
    return handle;
}

/* ---- connections --------------------------------------------------------------------------------------------------- */

static void wait_for(struct rpc_context *rpc, const int *condition)
{
    while (!*condition) {
        struct pollfd pfd = { .fd = rpc_get_fd(rpc), .events = (short)rpc_which_events(rpc) };
        if (poll(&pfd, 1, 5000) <= 0)
            give_up("poll", "no answer within 5 s");
        if (rpc_service(rpc, pfd.revents) < 0)
            give_up("rpc_service", rpc_get_error(rpc));
    }
}

static void connected(struct rpc_context *rpc, int status, void *data, void *flag)
{
    (void)data;
    if (status != RPC_STATUS_SUCCESS)
        give_up("connect", rpc_get_error(rpc));
    *(int *)flag = 1;
}

static struct rpc_context *raw_connection(const char *place)
{
    static struct rpc_context *known[2];
    int canned = !strcmp(place, "canned"), done = 0;
    if (known[canned])
        return known[canned];
    struct rpc_context *rpc = rpc_init_context();
    const char *host = canned ? "127.0.0.1" : setting("BENCH_HOST");
    int port = atoi(setting(canned ? "BENCH_CANNED_PORT" : "BENCH_NFS_PORT"));
    if (rpc_connect_port_async(rpc, host, port, NFS_PROGRAM, NFS_V3, connected, &done))
        give_up("connect", rpc_get_error(rpc));
    wait_for(rpc, &done);
    return known[canned] = rpc;
}

static struct nfs_context *mounted(void)
{
    static struct nfs_context *nfs;
    if (nfs)
        return nfs;
    nfs = nfs_init_context();
    struct nfs_url *url = nfs_parse_url_dir(nfs, setting("BENCH_URL"));
    if (!url)
        give_up("url", nfs_get_error(nfs));
    nfs_set_dircache(nfs, 0); /* otherwise a second listing never reaches the server */
    if (nfs_mount(nfs, url->server, url->path))
        give_up("mount", nfs_get_error(nfs));
    return nfs;
}

/* ---- raw calls ----------------------------------------------------------------------------------------------------- */

static void check(struct rpc_context *rpc, int status, int nfs_status, const char *what)
{
    if (status != RPC_STATUS_SUCCESS)
        give_up(what, rpc_get_error(rpc));
    if (nfs_status != NFS3_OK)
        give_up(what, nfsstat3_to_str(nfs_status));
}

static void sent(int failed, const char *what)
{
    if (failed)
        give_up(what, rpc_get_error(run.rpc));
}

static uint64_t next_offset(void)
{
    uint64_t offset = run.offset;
    run.offset = (run.offset + run.size) % FILE_SIZE;
    return offset;
}

static void send_getattr(void);
static void send_read(void);
static void send_write(void);
static void send_list(void);
static void send_create(void);

static void got_attributes(struct rpc_context *rpc, int status, void *data, void *unused)
{
    (void)unused;
    check(rpc, status, status ? 0 : ((GETATTR3res *)data)->status, "GETATTR");
    run.outstanding--, run.operations++;
    if (!run.stopped)
        send_getattr();
}

static void send_getattr(void)
{
    struct GETATTR3args args = { run.handle };
    run.outstanding++;
    sent(rpc_nfs3_getattr_async(run.rpc, got_attributes, &args, NULL), "GETATTR");
}

static void got_data(struct rpc_context *rpc, int status, void *data, void *unused)
{
    READ3res *reply = data;
    (void)unused;
    check(rpc, status, status ? 0 : reply->status, "READ");
    run.outstanding--, run.operations++, run.bytes += reply->READ3res_u.resok.data.data_len;
    if (!run.stopped)
        send_read();
}

static void send_read(void)
{
    struct READ3args args = { run.handle, next_offset(), run.size };
    run.outstanding++;
    sent(rpc_nfs3_read_async(run.rpc, got_data, &args, NULL), "READ");
}

static void wrote(struct rpc_context *rpc, int status, void *data, void *unused)
{
    WRITE3res *reply = data;
    (void)unused;
    check(rpc, status, status ? 0 : reply->status, "WRITE");
    run.outstanding--, run.operations++, run.bytes += reply->WRITE3res_u.resok.count;
    if (!run.stopped)
        send_write();
}

static void send_write(void)
{
    struct WRITE3args args = { run.handle, next_offset(), run.size, UNSTABLE, { run.size, payload } };
    run.outstanding++;
    sent(rpc_nfs3_write_async(run.rpc, wrote, &args, NULL), "WRITE");
}

static void listed(struct rpc_context *rpc, int status, void *data, void *unused)
{
    READDIRPLUS3res *reply = data;
    (void)unused;
    check(rpc, status, status ? 0 : reply->status, "READDIRPLUS");
    run.outstanding--;
    for (entryplus3 *entry = reply->READDIRPLUS3res_u.resok.reply.entries; entry; entry = entry->nextentry) {
        run.operations++;
        run.cookie = entry->cookie;
    }
    memcpy(run.cookie_verifier, reply->READDIRPLUS3res_u.resok.cookieverf, 8);
    if (reply->READDIRPLUS3res_u.resok.reply.eof) {
        run.cookie = 0;
        memset(run.cookie_verifier, 0, 8);
        if (run.stopped || now() >= run.deadline) { /* only whole listings count */
            run.stopped = 1;
            return;
        }
    }
    send_list();
}

static void send_list(void)
{
    struct READDIRPLUS3args args = { .dir = run.handle, .cookie = run.cookie, .dircount = run.size, .maxcount = run.size };
    memcpy(args.cookieverf, run.cookie_verifier, 8);
    run.outstanding++;
    sent(rpc_nfs3_readdirplus_async(run.rpc, listed, &args, NULL), "READDIRPLUS");
}

static void cycle_removed(struct rpc_context *rpc, int status, void *data, void *unused)
{
    (void)unused;
    check(rpc, status, status ? 0 : ((REMOVE3res *)data)->status, "REMOVE");
    run.outstanding--, run.operations++;
    if (!run.stopped)
        send_create();
}

static void cycle_committed(struct rpc_context *rpc, int status, void *data, void *unused)
{
    (void)unused;
    check(rpc, status, status ? 0 : ((COMMIT3res *)data)->status, "COMMIT");
    struct REMOVE3args args = { { run.handle, run.name } };
    sent(rpc_nfs3_remove_async(rpc, cycle_removed, &args, NULL), "REMOVE");
}

static void cycle_written(struct rpc_context *rpc, int status, void *data, void *unused)
{
    (void)unused;
    check(rpc, status, status ? 0 : ((WRITE3res *)data)->status, "WRITE");
    struct COMMIT3args args = { run.created, 0, 0 };
    sent(rpc_nfs3_commit_async(rpc, cycle_committed, &args, NULL), "COMMIT");
}

static void cycle_created(struct rpc_context *rpc, int status, void *data, void *unused)
{
    CREATE3res *reply = data;
    (void)unused;
    check(rpc, status, status ? 0 : reply->status, "CREATE");
    struct nfs_fh3 *handle = &reply->CREATE3res_u.resok.obj.post_op_fh3_u.handle;
    if (!reply->CREATE3res_u.resok.obj.handle_follows || handle->data.data_len > sizeof run.created_bytes)
        give_up("CREATE", "no handle");
    memcpy(run.created_bytes, handle->data.data_val, handle->data.data_len);
    run.created.data.data_len = handle->data.data_len;
    run.created.data.data_val = run.created_bytes;
    struct WRITE3args args = { run.created, 0, SMALL_FILE, UNSTABLE, { SMALL_FILE, payload } };
    sent(rpc_nfs3_write_async(rpc, cycle_written, &args, NULL), "WRITE");
}

static void send_create(void)
{
    snprintf(run.name, sizeof run.name, "raw-%d-%lu", getpid(), names_used++);
    struct CREATE3args args = { .where = { run.handle, run.name }, .how = { .mode = UNCHECKED } };
    args.how.createhow3_u.obj_attributes.mode.set_it = 1;
    args.how.createhow3_u.obj_attributes.mode.set_mode3_u.mode = 0644;
    run.outstanding++;
    sent(rpc_nfs3_create_async(run.rpc, cycle_created, &args, NULL), "CREATE");
}

static const struct {
    const char *operation, *handle;
    void (*send)(void);
} raw_operations[] = {
    { "getattr", "BENCH_FH_SMALL", send_getattr },
    { "read", "BENCH_FH_BIG", send_read },
    { "write", "BENCH_FH_WRITTEN", send_write },
    { "list", "BENCH_FH_MANY", send_list },
    { "cycle", "BENCH_FH_WORK", send_create },
};

static int run_raw(const struct order *order, double seconds)
{
    for (size_t i = 0; i < sizeof raw_operations / sizeof *raw_operations; i++) {
        if (strcmp(order->operation, raw_operations[i].operation))
            continue;
        memset(&run, 0, sizeof run);
        run.rpc = raw_connection(order->place);
        run.handle = handle_setting(raw_operations[i].handle);
        run.size = order->size;
        run.deadline = now() + seconds;
        for (uint32_t n = 0; n < order->window; n++)
            raw_operations[i].send();
        while (run.outstanding) {
            struct pollfd pfd = { .fd = rpc_get_fd(run.rpc), .events = (short)rpc_which_events(run.rpc) };
            if (poll(&pfd, 1, 10000) <= 0)
                give_up(order->operation, "no answer within 10 s");
            if (rpc_service(run.rpc, pfd.revents) < 0)
                give_up(order->operation, rpc_get_error(run.rpc));
            if (raw_operations[i].send != send_list && now() >= run.deadline)
                run.stopped = 1;
        }
        free(run.handle.data.data_val);
        return 1;
    }
    return 0;
}

/* ---- high-level calls ---------------------------------------------------------------------------------------------- */

static void list_directory(struct nfs_context *nfs)
{
    struct nfsdir *directory;
    if (nfs_opendir(nfs, "/many", &directory))
        give_up("opendir", nfs_get_error(nfs));
    while (nfs_readdir(nfs, directory))
        run.operations++;
    nfs_closedir(nfs, directory);
}

static void file_cycle(struct nfs_context *nfs)
{
    struct nfsfh *file;
    snprintf(run.name, sizeof run.name, "/scratch/high-%d-%lu", getpid(), names_used++);
    if (nfs_creat(nfs, run.name, 0644, &file))
        give_up("creat", nfs_get_error(nfs));
    if (nfs_write(nfs, file, SMALL_FILE, payload) != SMALL_FILE)
        give_up("write", nfs_get_error(nfs));
    if (nfs_close(nfs, file) || nfs_unlink(nfs, run.name))
        give_up("close or unlink", nfs_get_error(nfs));
    run.operations++;
}

static int run_high_level(const struct order *order, double seconds)
{
    int stat = !strcmp(order->operation, "fstat"), list = !strcmp(order->operation, "opendir");
    if (!stat && !list && strcmp(order->operation, "filecycle"))
        return 0;
    memset(&run, 0, sizeof run);
    struct nfs_context *nfs = mounted();
    struct nfsfh *file = NULL;
    if (stat && nfs_open(nfs, "/small", O_RDONLY, &file))
        give_up("open", nfs_get_error(nfs));
    run.deadline = now() + seconds;
    do {
        struct nfs_stat_64 attributes;
        if (stat && nfs_fstat64(nfs, file, &attributes))
            give_up("fstat", nfs_get_error(nfs));
        if (stat)
            run.operations++;
        else if (list)
            list_directory(nfs);
        else
            file_cycle(nfs);
    } while (now() < run.deadline);
    if (file)
        nfs_close(nfs, file);
    return 1;
}

int main(void)
{
    char line[256];
    struct order order;
    memset(payload, 'x', sizeof payload);
    printf("{\"ready\": true}\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%23s %15s %u %u %lf", order.operation, order.place, &order.window, &order.size, &order.seconds) != 5)
            give_up("order", "not understood");
        double warm_up = order.seconds / 8, started, used;
        if (!run_raw(&order, warm_up) && !run_high_level(&order, warm_up)) {
            printf("{\"unsupported\": \"not an operation of this driver\"}\n");
            fflush(stdout);
            continue;
        }
        started = now(), used = cpu_seconds();
        if (!run_raw(&order, order.seconds))
            run_high_level(&order, order.seconds);
        printf("{\"seconds\": %.6f, \"cpu\": %.6f, \"operations\": %llu, \"bytes\": %llu}\n", now() - started, cpu_seconds() - used,
               (unsigned long long)run.operations, (unsigned long long)run.bytes);
        fflush(stdout);
    }
    return 0;
}
