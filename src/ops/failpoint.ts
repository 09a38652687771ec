/**
 * Named points at which a test kills the process (SIGKILL) at the n-th pass, to show that a restart recovers. The
 * configuration selects (arms) one fail point at the start. Passing any other point costs one comparison.
 */
let armed: { name: string; passesLeft: number } | null = null

/** Selects the fail point that will kill the process. @param spec `name` or `name:count` */
export function armFailpoint(spec: string | undefined): void {
  const [name, count = '1'] = spec?.split(':') ?? []
  armed = name ? { name, passesLeft: Number(count) } : null
}

export function failpoint(name: string): void {
  if (armed?.name !== name) return
  armed.passesLeft -= 1
  if (armed.passesLeft === 0) process.kill(process.pid, 'SIGKILL')
}
