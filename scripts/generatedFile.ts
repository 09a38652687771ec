import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/**
 * Writes a file that is made from the code; with `--check` among the arguments only compares it.
 * Sets exit code 1 where a compared file differs.
 * @param path from the project's root
 * @param command the npm script that writes the file
 */
export function writeOrCheck(path: string, text: string, command: string): void {
  const file = join(ROOT, path)
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text)
    console.log(`wrote ${path}`)
  } else if (readFileSync(file, 'utf8') === text) console.log(`${path} is current`)
  else {
    console.log(`${path} has drifted: run \`npm run ${command}\``)
    process.exitCode = 1
  }
}
