import { Command } from 'commander'

/**
 * The command line, as `src/cli.ts` builds it when it is loaded. Nothing is parsed or run.
 * @param load imports `src/cli.ts` for the first time in this process, after `vi.resetModules` in a test
 */
export async function buildCommandLine(
  load: () => Promise<unknown> = () => import('../../src/cli.js'),
): Promise<Command> {
  const { parseAsync } = Command.prototype
  let built = new Command()
  Command.prototype.parseAsync = async function (this: Command) {
    built = this
    return this
  }
  try {
    await load()
  } finally {
    Command.prototype.parseAsync = parseAsync
  }
  return built
}
