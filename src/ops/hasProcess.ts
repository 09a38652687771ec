/** True if a process id is in use, by a running process or by one that has ended and was not reaped. */
export function hasProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
