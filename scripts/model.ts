import { parseArgs } from 'node:util'
import { runStatusModel } from '../test/model/statusModel.js'
import { startHubWorld } from '../test/support/hubWorld.js'

/**
 * Runs the model test of status for longer than `npm test` does: `npx tsx scripts/model.ts --runs 1000 --commands 80
 * --seed 7`. A failing sequence is shortened and printed with its seed.
 */
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '500' },
    commands: { type: 'string', default: '60' },
    seed: { type: 'string' },
  },
})
const world = await startHubWorld()
try {
  const counts = await runStatusModel(world, {
    runs: Number(values.runs),
    commands: Number(values.commands),
    ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
  })
  console.log([...counts].map(([name, n]) => `${n} ${name}`).join(', '))
} finally {
  await world.stop()
}
