/* The stepper: has a process of ours take one instruction at a time, and writes down where each was.
   Usage: stepper PID COUNT FRAMES, where FRAMES is the address at which CPython 3.11 keeps the frame that runs,
   or 0. On standard output, three numbers of 64 bits for each instruction: its address, the code object of the
   Python function that it is part of, and how far that has got. Linux on x86-64 alone. */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

/* In 3.11's struct _cframe and struct _PyInterpreterFrame. */
#define CURRENT_FRAME 8
#define CODE 32
#define LAST_INSTRUCTION 56

static pid_t pid;

static int peek(uint64_t address, void *into, size_t size) {
    struct iovec here = {into, size}, there = {(void *)address, size};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    pid = atoi(arguments[1]);
    long steps = atol(arguments[2]);
    uint64_t frames = strtoull(arguments[3], NULL, 10), cframe, frame;
    int status, signal = 0;
    if (ptrace(PTRACE_SEIZE, pid, 0, 0) || ptrace(PTRACE_INTERRUPT, pid, 0, 0)) {
        perror("cannot step through it");
        return 1;
    }
    waitpid(pid, &status, __WALL);
    while (steps--) {
        uint64_t found[3] = {0, 0, 0};
        if (ptrace(PTRACE_SINGLESTEP, pid, 0, signal)) break;
        waitpid(pid, &status, __WALL);
        if (WIFEXITED(status) || WIFSIGNALED(status)) break;
        signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        found[0] = ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user_regs_struct, rip), 0);
        if (frames && peek(frames, &cframe, 8) && peek(cframe + CURRENT_FRAME, &frame, 8) && frame) {
            peek(frame + CODE, &found[1], 8);
            peek(frame + LAST_INSTRUCTION, &found[2], 8);
        }
        fwrite(found, 8, 3, stdout);
    }
    ptrace(PTRACE_DETACH, pid, 0, 0);
    return 0;
}
