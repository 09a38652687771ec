/** True if the process exists. Also true for a zombie, which has ended but was not reaped. */
export function hasProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
