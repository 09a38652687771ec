import { grouped } from '../lib/format.js'
import type { Overview } from '../lib/types.js'

const HEIGHT = 96
const BAR = 8
const GAP = 3
/** Least height of a day that has any. */
const LEAST = 3

/** Registrations of the last days as bars. */
export function Plot({ days }: Pick<Overview, 'days'>) {
  const most = Math.max(1, ...days.map(({ registrations }) => registrations))
  const sum = days.reduce((total, { registrations }) => total + registrations, 0)
  const heightOf = (count: number) => (count === 0 ? 1 : Math.max(LEAST, (count / most) * HEIGHT))
  const label = `${grouped(sum)} names in ${days.length} days, ${grouped(most)} on the best day`
  return (
    <figure class="plot">
      <svg viewBox={`0 0 ${days.length * (BAR + GAP) - GAP} ${HEIGHT}`} role="img" aria-label={label}>
        {days.map(({ day, registrations }, i) => (
          <rect
            key={day}
            class={registrations === 0 ? 'none' : ''}
            x={i * (BAR + GAP)}
            y={HEIGHT - heightOf(registrations)}
            width={BAR}
            height={heightOf(registrations)}
            rx="1"
          >
            <title>{`${day}: ${grouped(registrations)}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption>
        <span>{days[0]?.day}</span>
        <span>{label}</span>
        <span>today</span>
      </figcaption>
    </figure>
  )
}
