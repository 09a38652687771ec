/**
 * Named places at which a test lets the process die (SIGKILL) at the n-th pass, to show that it goes on after a restart.
 * Armed once at start from the configuration; disarmed, a pass costs one comparison.
 */
let armed: { name: string; passesLeft: number } | null = null

/** Arms `name` or `name:count`. */
export function armFailpoint(spec: string | undefined): void {
  const [name, count = '1'] = spec?.split(':') ?? []
  armed = name ? { name, passesLeft: Number(count) } : null
}

/** Dies here when this point is armed and its count is reached. */
export function failpoint(name: string): void {
  if (armed?.name !== name) return
  armed.passesLeft -= 1
  if (armed.passesLeft === 0) process.kill(process.pid, 'SIGKILL')
}
