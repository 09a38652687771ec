import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Number of releases to try, the newest first: an npm mirror may not have all parts of the newest release. */
const MOST_TRIES = 4

/**
 * Installs the newest release of a package from npm, with its dependencies, into a temporary folder.
 * @param overrides versions of indirect dependencies, where npm does not have the wanted one
 * @returns the installed version
 * @throws Error with npm's reason where none of the newest releases can be installed
 */
export async function installNewest(
  folder: string,
  name: string,
  beside: readonly string[] = [],
  overrides: Readonly<Record<string, string>> = {},
): Promise<string> {
  const project = { private: true, type: 'module', overrides }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project))
  const versions = await newestVersions(name)
  let reason: unknown
  for (const version of versions.slice(0, MOST_TRIES)) {
    try {
      await npm(folder, ['install', '--no-audit', '--no-fund', `${name}@${version}`, ...beside])
      return version
    } catch (error) {
      reason ??= error
    }
  }
  const { stderr = String(reason) } = reason as { stderr?: string }
  throw new Error(/npm error (?!code)(.*)/.exec(stderr)?.[1] ?? stderr.trim())
}

/** The release that npm calls the latest, and the releases before it, the newest first. */
async function newestVersions(name: string): Promise<string[]> {
  const { stdout } = await npm('.', ['view', name, '--json', 'dist-tags.latest', 'versions'])
  const found = JSON.parse(stdout) as { 'dist-tags.latest': string; versions: string[] }
  const released = found.versions.filter((version) => !version.includes('-'))
  const latest = released.indexOf(found['dist-tags.latest'])
  return released.slice(0, latest + 1).reverse()
}

const npm = (cwd: string, args: readonly string[]) => run('npm', args, { cwd, maxBuffer: 2 ** 26 })
