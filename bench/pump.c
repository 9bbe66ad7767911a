/* The byte pump: starts a program and moves bytes to it and back, as they are, with a thread for each way.
   The floor of any extra process, since it does nothing but wake up, read and write.
   Usage: pump PROGRAM [ARGUMENT...] */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define SIZE (1 << 20)

static int in[2], out[2];

static void move(int from, int to) {
    char *buffer = malloc(SIZE);
    ssize_t count;
    while ((count = read(from, buffer, SIZE)) > 0)
        for (ssize_t done = 0; done < count;) {
            ssize_t written = write(to, buffer + done, count - done);
            if (written < 0) return;
            done += written;
        }
}

static void *there(void *unused) {
    move(0, in[1]);
    close(in[1]);
    return unused;
}

int main(int count, char **words) {
    if (count < 2 || pipe(in) || pipe(out)) return 2;
    fcntl(in[1], F_SETPIPE_SZ, SIZE);
    fcntl(out[1], F_SETPIPE_SZ, SIZE);
    if (fork() == 0) {
        setsid();
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[0]), close(in[1]), close(out[0]), close(out[1]);
        execvp(words[1], words + 1);
        _exit(127);
    }
    close(in[0]), close(out[1]);
    pthread_t thread;
    pthread_create(&thread, NULL, there, NULL);
    move(out[0], 1);
    return 0;
}
