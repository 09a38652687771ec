import { inject } from 'vitest'
import { type PreparedPostgres, preparePostgres } from '../../src/testing/processes/prepared.js'
import { startProgramsFrom } from '../../src/testing/processes/programs.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder of this run's built programs, which is made when the first of them is started. */
    programs: string
    postgres: PreparedPostgres
  }
}

// every file loads this: what only some need is imported when they need it
startProgramsFrom(async (program) => {
  const { builtProgram } = await import('./built.js')
  return builtProgram(inject('programs'), program)
})
preparePostgres(inject('postgres'))
