/**
 * The armed fail point, null for none. A fail point is a named point in the code at which a test kills the process at
 * the n-th pass, to show that a restart recovers. The configuration arms at most one, at the start.
 */
let armedFailpoint: { name: string; passesLeft: number } | null = null

/** Arms a fail point. @param spec `name` or `name:count`, the pass that kills the process; undefined: none */
export function armFailpoint(spec: string | undefined): void {
  const [name, count = '1'] = spec?.split(':') ?? []
  armedFailpoint = name ? { name, passesLeft: Number(count) } : null
}

/** Passes the fail point `name`. Kills this process (SIGKILL) if the point is armed and this is the pass to kill at. */
export function failpoint(name: string): void {
  if (armedFailpoint?.name !== name) return
  armedFailpoint.passesLeft -= 1
  if (armedFailpoint.passesLeft === 0) process.kill(process.pid, 'SIGKILL')
}
