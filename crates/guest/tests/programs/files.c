/* Files: what can be read, what can be changed, and random numbers. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
static void say(long result) { puts(strerror(result < 0 ? errno : 0)); }
int main(int argc, char **argv) {
    if (!strcmp(argv[1], "read")) {
        for (int i = 2; i < argc; i++) {
            char text[100]; int fd = open(argv[i], O_RDONLY); long n = fd < 0 ? -1 : read(fd, text, sizeof text);
            printf("%s: %.*s\n", argv[i], n < 0 ? (int)strlen(strerror(errno)) : (int)n, n < 0 ? strerror(errno) : text);
        }
    } else if (!strcmp(argv[1], "change")) {
        say(mkdir("/new", 0755)); say(open("/new/made", O_CREAT | O_WRONLY, 0644)); say(open("/file", O_WRONLY | O_TRUNC));
        say(chmod("/file", 0600)); say(symlink("../../etc", "/new/link")); say(link("/file", "/new/hard"));
        say(truncate("/file", 3)); say(rename("/file", "/new/moved")); say(unlink("/new/hard"));
    } else if (!strcmp(argv[1], "write")) {
        say(open(argv[2], O_RDWR));
    } else {
        unsigned char bytes[16]; struct timespec now; getrandom(bytes, sizeof bytes, 0); clock_gettime(CLOCK_REALTIME, &now);
        for (int i = 0; i < 16; i++) printf("%02x", bytes[i]);
        printf(" %ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
    }
    return 0;
}
