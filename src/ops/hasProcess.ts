/** True if the process with this id exists. Also true for a zombie process, which has ended but was not reaped. */
export function doesProcessExist(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
