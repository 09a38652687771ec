import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const SOURCES = join(import.meta.dirname, '../src')

/** Sources of the package's programs, by their paths in the project. */
export function sourcesOfPrograms(): string[] {
  return readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|^web\/page\//.test(file))
    .map((file) => join('src', file))
    .sort()
}

/**
 * Builds the package's programs as `npm run build` does, without types: in a second.
 * @param folder of the build, directly in the project's: migrations and contracts are found from there
 */
export async function buildPrograms(folder: string): Promise<void> {
  // who only asks for the sources waits for neither
  const [{ build }, { bundleLibraries }] = await Promise.all([import('esbuild'), import('./bundle-libraries.js')])
  await build({
    entryPoints: sourcesOfPrograms().map((file) => join(SOURCES, '..', file)),
    ...{ outdir: folder, outbase: SOURCES, format: 'esm', target: 'es2022', sourcemap: true },
  })
  await bundleLibraries(folder)
}
