import { filesIn, ROOT } from './files.js'

/** Sources of the package's programs, by their paths in the project. */
export const sourcesOfPrograms = (): string[] =>
  filesIn('src').filter(
    (file) => file.endsWith('.ts') && !/\.test\.ts$|^src\/web\/page\//.test(file),
  )

/**
 * Builds the package's programs as `npm run build` does, without types: in a second.
 * @param folder of the build, directly in the project's: migrations and contracts are found from there
 */
export async function buildPrograms(folder: string): Promise<void> {
  // imported here, so that callers who need only the list of sources do not load esbuild
  const [{ build }, { bundle }] = await Promise.all([import('esbuild'), import('./bundle.js')])
  await build({
    absWorkingDir: ROOT,
    entryPoints: sourcesOfPrograms(),
    outbase: 'src',
    outdir: folder,
    format: 'esm',
    target: 'es2022',
    sourcemap: true,
  })
  await bundle(folder)
}
