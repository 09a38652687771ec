import {
  type Answer,
  answerDifferences,
  type Difference,
  hasOneType,
  type Recorded,
} from './answers.js'
import { ABSENT, isOf, isUncompared, TIMED } from './differences.js'

/** A recorded request whose answer is another one now. */
export interface Changed {
  request: Recorded
  difference: Difference
}

/** Differences of a quiet process's answer from the recorded one. Of uncompared fields only the types are compared. */
export const changesOf = (request: Recorded, answer: Answer): Changed[] =>
  changesBeyond(request, answer, (difference) => isUncompared(request, difference))

/** As `changesOf`, of a running service on the restored deployment: its blocks and its time are other ones. */
export const changesOfRunning = (request: Recorded, answer: Answer): Changed[] =>
  changesBeyond(
    request,
    answer,
    (difference) =>
      (request.moving ?? []).includes(difference.field) ||
      isOf(TIMED, request, difference) ||
      isUncompared(request, difference),
  ).filter(({ difference }) => !ABSENT.some((place) => isOf(place, request, difference)))

function changesBeyond(
  request: Recorded,
  answer: Answer,
  isTypeEnough: (difference: Difference) => boolean,
): Changed[] {
  return answerDifferences(request.answer, answer)
    .filter((difference) => !hasOneType(difference) || !isTypeEnough(difference))
    .map((difference) => ({ request, difference }))
}

/** A changed answer, as a failed test or the command shows it. */
export const show = ({ request: { method, path, as, stage }, difference }: Changed) => ({
  request: `${method} ${path}${as === undefined ? '' : ` as ${as}`} (${stage})`,
  ...difference,
})

const SECTION = 'Answers of the API that changed since the recorded candidate'

/** Rows of the table in the changelog that lists the same changes as `CHANGES`. Without changes there is no table. */
export function rowsOfChangelog(text: string): string[] {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => line.startsWith(SECTION))
  if (start < 0) throw new Error(`docs/run/changelog.md has no "${SECTION}"`)
  const end = lines.indexOf('', start)
  const [head, , ...rows] = lines.slice(end + 1, lines.indexOf('', end + 1))
  return head?.startsWith('|') ? rows : []
}
