import { execFileSync } from 'node:child_process'

const DEADLINE_MS = 5_000

/** True if the npm registry answers: tests that install packages are skipped without it. */
export async function isRegistryThere(): Promise<boolean> {
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
  const asked = { method: 'HEAD', signal: AbortSignal.timeout(DEADLINE_MS) }
  return fetch(new URL('vite', registry), asked).then(
    ({ ok }) => ok,
    () => false,
  )
}
